import { mkdir, rm } from 'node:fs/promises';
import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import type { ResponseInput, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { z } from 'zod';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { chunk, ScriptedEngine, sendEvents, streaming } from '../support/scripted-engine.js';
import { Service, temporaryFolder } from '../support/service.js';
import { until } from '../support/until.js';
import { type Member, readyProject, register, untilState } from '../support/workspace.js';

const input = 'What is the capital of France?';
const answer = 'The capital of France is Paris.';

let database: TestDatabase;
let engine: ScriptedEngine;
let dataDir: string;
let first: Service;
let admin: Member;
/** Names a project with the shipped model. */
let project: string;
/** Names a project with the scripted engine. */
let elsewhere: string;

const start = (name: string) =>
  Service.start({
    alone: 'it is one of several',
    databaseUrl: database.url,
    dataDir,
    env: { SERVICE_INSTANCE_NAME: name, SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host },
  });

beforeAll(async () => {
  database = await freshDatabase();
  engine = await ScriptedEngine.start();
  dataDir = await temporaryFolder();
  await mkdir(dataDir, { recursive: true });
  first = await start('first');
  admin = await register(first, 'Ada');
  elsewhere = await readyProject(first, admin.token, { runtime: 'openai', base_url: engine.url, model: 'm' });
  project = await readyProject(first, admin.token);
});
afterAll(async () => {
  await first.stop();
  await engine.close();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

const client = (service = first) =>
  new OpenAI({ baseURL: `${service.url}/openai/v1`, apiKey: admin.apiKey, maxRetries: 0 }).responses;

describe('the openai library', () => {
  it('creates, streams, parses, continues, reads and deletes responses', async () => {
    const responses = client();
    const one = await responses.create({ model: project, input });
    expect(one.output_text).toBe(answer);
    expect(one.usage?.output_tokens).toBeGreaterThan(3);

    const stream = responses.stream({ model: project, input });
    let joined = '';
    stream.on('response.output_text.delta', ({ delta }) => {
      joined += delta;
    });
    expect((await stream.finalResponse()).output_text).toBe(answer);
    expect(joined).toBe(answer);

    const Place = z.object({ country: z.literal('France'), city: z.enum(['Paris', 'Rome']) });
    const parsed = await responses.parse({ model: project, input, text: { format: zodTextFormat(Place, 'place') } });
    expect(Place.parse(parsed.output_parsed)).toEqual(parsed.output_parsed);

    const next = await responses.create({ model: project, input: 'And of Italy?', previous_response_id: one.id });
    expect(next.usage?.input_tokens).toBeGreaterThan(one.usage?.input_tokens as number);
    const counted = await responses.inputTokens.count({
      model: project,
      input: 'And of Italy?',
      previous_response_id: one.id,
    });
    expect(counted).toEqual({ object: 'response.input_tokens', input_tokens: next.usage?.input_tokens });

    expect(await responses.retrieve(one.id)).toMatchObject({ id: one.id, output_text: answer });
    const items: unknown[] = [];
    for await (const item of responses.inputItems.list(one.id)) items.push(item);
    expect(items).toMatchObject([{ role: 'user', content: [{ type: 'input_text', text: input }] }]);
    await responses.delete(one.id);
    await expect(responses.retrieve(one.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(responses.create({ model: project, input, previous_response_id: one.id })).rejects.toMatchObject({
      status: 400,
      code: 'previous_response_not_found',
      param: 'previous_response_id',
    });
    await expect(
      responses.create({
        model: project,
        input,
        text: { format: { type: 'json_schema', name: 'x', schema: { type: 'odd' } } },
      }),
    ).rejects.toMatchObject({
      status: 400,
      param: expect.stringMatching(/^text\.format/),
    });
  });

  it('leaves out the oldest turns of a long input, if it asks for that', async () => {
    const long = [
      { role: 'user', content: 'blue river '.repeat(5_000) },
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: input },
    ] satisfies ResponseInput;
    const { output_text } = await client().create({ model: project, input: long, truncation: 'auto' });
    expect(output_text).toBe(answer);
    const refused = client().create({ model: project, input: long });
    await expect(refused).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded' });
  });

  it('calls tools of a model elsewhere', async () => {
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":' } };
    engine.script = streaming(
      chunk('m', { role: 'assistant', content: null, reasoning_content: 'Hm.' }),
      chunk('m', { tool_calls: [call] }),
      chunk('m', { tool_calls: [{ index: 0, function: { arguments: '"Rome"}' } }] }),
      chunk('m', {}, 'tool_calls'),
      '[DONE]',
    );
    const tools = [{ type: 'function' as const, name: 'get_weather', parameters: { type: 'object' }, strict: false }];
    const stream = client().stream({
      model: elsewhere,
      input,
      tools,
      store: false,
      include: ['reasoning.encrypted_content'],
    });
    const { output } = await stream.finalResponse();
    expect(output).toMatchObject([
      { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'Hm.' }] },
      { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Rome"}' },
    ]);
    const sent = engine.asked.at(-1)?.body;
    expect(sent).toEqual({
      ...{
        model: 'm',
        messages: [{ role: 'user', content: input }],
        stream: true,
        stream_options: { include_usage: true },
      },
      tools: [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object' }, strict: false } }],
    });
  });

  it('runs responses in the background, streams them again and cancels them', async () => {
    const responses = client();
    const queued = await responses.create({ model: project, input, background: true });
    expect(queued.status).toMatch(/^(queued|in_progress)$/);
    await until('the response has ended', async () => (await responses.retrieve(queued.id)).status === 'completed');
    expect((await responses.retrieve(queued.id)).output_text).toBe(answer);
    const events: ResponseStreamEvent[] = [];
    for await (const event of await responses.retrieve(queued.id, { stream: true })) events.push(event);
    const rest: ResponseStreamEvent[] = [];
    for await (const event of await responses.retrieve(queued.id, { stream: true, starting_after: 3 }))
      rest.push(event);
    expect(rest).toEqual(events.slice(4));

    engine.script = (_, response) => sendEvents(response, chunk('m', { role: 'assistant', content: 'The' }));
    const endless = await responses.create({ model: elsewhere, input, background: true, stream: true });
    let id = '';
    for await (const event of endless) {
      if (event.type === 'response.created') id = event.response.id;
      if (event.type === 'response.output_text.delta') await responses.cancel(id);
      if (event.type === 'response.incomplete') expect(event.response.status).toBe('cancelled');
    }
    expect(await responses.cancel(id)).toMatchObject({
      status: 'cancelled',
      output: [{ status: 'incomplete', content: [{ text: 'The' }] }],
    });
  });
});

it('a response in the background survives kill -9, and is read to its end on another instance', async () => {
  const texts = ['The', ' capital', ' of', ' France', ' is', ' Paris.'];
  let asked = 0;
  engine.script = (_, response) => {
    const isLast = ++asked > 1;
    sendEvents(response, ...texts.slice(0, isLast ? 6 : 3).map((content) => chunk('m', { content })));
    if (isLast) {
      sendEvents(response, chunk('m', {}, 'stop'), '[DONE]');
      response.end();
    }
  };
  const events: ResponseStreamEvent[] = [];
  const stream = await client().create({ model: elsewhere, input, background: true, stream: true });
  let id = '';
  let seen = '';
  for await (const event of stream) {
    events.push(event);
    if (event.type === 'response.created') id = event.response.id;
    if (event.type === 'response.output_text.delta') seen += event.delta;
    if (seen === 'The capital of') break;
  }
  const second = await start('second');
  try {
    await untilState(second, admin.token, elsewhere, 'ready');
    await first.kill();
    const after = events.at(-1)?.sequence_number as number;
    for await (const event of await client(second).retrieve(id, { stream: true, starting_after: after }))
      events.push(event);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, number) => number));
    const last = events.at(-1);
    if (last?.type !== 'response.completed') throw new Error(`the last event is ${JSON.stringify(last)}`);
    const deltas = events.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : []));
    expect(deltas.join('')).toBe(answer);
    expect(last.response.output).toMatchObject([{ content: [{ text: answer }] }]);
    expect(asked).toBe(2);
    const { jobs } = (await second.get(`/v1/jobs?kind=chat&project_id=${elsewhere}&limit=2`, admin.token)).body;
    expect(jobs.map(({ status }: { status: string }) => status).sort()).toEqual(['failed', 'succeeded']);
  } finally {
    await second.stop();
  }
});
