import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI } from '@langchain/openai';
import { APICallError, generateObject, generateText, streamText } from 'ai';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { answering, chunk, type Script, ScriptedEngine, speaking, streaming } from '../support/scripted-engine.js';
import { Service } from '../support/service.js';
import { type Member, readyProject, register } from '../support/workspace.js';

const run = promisify(execFile);
const root = join(__dirname, '../..');

const prompt = 'What is the capital of France?';
const answer = 'The capital of France is Paris.';
const messages = [{ role: 'user' as const, content: prompt }];

let engine: ScriptedEngine;
let service: Service;
let admin: Member;
/** Names a project with the shipped model. */
let project: string;
const name = 'Capitals';
/** Names a project with the scripted engine. */
let elsewhere: string;

beforeAll(async () => {
  engine = await ScriptedEngine.start();
  service = await Service.start({ env: { SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host } });
  admin = await register(service, 'Ada');
  elsewhere = await projectElsewhere();
  await service.put(`/v1/projects/${elsewhere}`, admin.token, { version: 1, spec: {}, name: 'Elsewhere' });
  project = await readyProject(service, admin.token);
});
afterAll(async () => {
  await service.stop();
  await engine.close();
});

/** Returns a project with the scripted engine and a breaker of its own, so that the failures of another test do not open it. */
const projectElsewhere = () =>
  readyProject(service, admin.token, { runtime: 'openai', base_url: engine.url, model: 'm' });

const baseURL = () => `${service.url}/openai/v1`;
const options = (apiKey = admin.apiKey) => ({ baseURL: baseURL(), apiKey });

async function joined<T>(parts: AsyncIterable<T>, text: (part: T) => string | null | undefined): Promise<string> {
  let whole = '';
  for await (const part of parts) whole += text(part) ?? '';
  return whole;
}

/** Calls each library with only the model and the prompt. */
const libraries: Record<string, (model: string) => { create(): Promise<unknown>; stream(): Promise<unknown> }> = {
  openai: (model) => {
    const { completions } = new OpenAI(options()).chat;
    return {
      create: async () => (await completions.create({ model, messages })).choices[0]?.message.content,
      stream: async () =>
        joined(await completions.create({ model, messages, stream: true }), (one) => one.choices[0]?.delta.content),
    };
  },
  '@ai-sdk/openai-compatible': (id) => {
    const model = createOpenAICompatible({ name: 'tenon', ...options() })(id);
    return {
      create: async () => (await generateText({ model, prompt })).text,
      stream: () => joined(streamText({ model, prompt }).textStream, (text) => text),
    };
  },
  '@ai-sdk/openai': (id) => {
    const model = createOpenAI(options()).chat(id);
    return {
      create: async () => (await generateText({ model, prompt })).text,
      stream: async () => {
        const { textStream, usage } = streamText({ model, prompt });
        const text = await joined(textStream, (one) => one);
        expect((await usage).outputTokens).toBeGreaterThan(3);
        return text;
      },
    };
  },
  '@langchain/openai': (model) => {
    const chat = new ChatOpenAI({ model, apiKey: admin.apiKey, configuration: { baseURL: baseURL() } });
    return {
      create: async () => {
        const { text, usage_metadata } = await chat.invoke(prompt);
        expect(usage_metadata?.output_tokens).toBeGreaterThan(3);
        return text;
      },
      stream: async () => joined(await chat.stream(prompt), ({ text }) => text),
    };
  },
};

it.each(Object.entries(libraries))('%s gets a whole answer and a stream with its default parameters', async (_, of) => {
  expect(await of(project).create()).toBe(answer);
  expect(await of(name).stream()).toBe(answer);
});

it('runs each JavaScript example of docs/openai-clients.md', async () => {
  const page = readFileSync(join(root, 'docs/openai-clients.md'), 'utf8');
  // The example of tools needs a model that knows tools: `clients-with-tools.test.ts` runs it.
  const examples = [...page.matchAll(/^```js\n(.*?)^```$/gms)]
    .map(([, code = '']) => code)
    .filter((code) => !code.includes("'Assistant'"));
  expect(examples.map((code) => /from '(.*?)'/.exec(code)?.[1])).toEqual([
    'openai',
    '@ai-sdk/openai-compatible',
    '@langchain/openai',
    '@llamaindex/openai',
    '@anthropic-ai/sdk',
    'openai',
    'openai',
    'openai',
    '@ai-sdk/openai-compatible',
    '@langchain/openai',
  ]);
  // The examples are programs. One process runs all of them, so that it loads each library once.
  const folder = join(root, 'dist/examples');
  await mkdir(folder, { recursive: true });
  const program: string[] = [];
  for (const [n, example] of examples.entries()) {
    const isLlama = example.includes('@llamaindex/openai');
    const code = isLlama ? `${example}process.stdout.write((await llm.chat({ messages })).message.content);` : example;
    await writeFile(join(folder, `${n}.mjs`), code.replaceAll('http://127.0.0.1:8080', service.url));
    program.push(`await import('./dist/examples/${n}.mjs')`, `process.stdout.write('\\0')`);
  }
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program.join('\n')], {
    cwd: root,
    env: { ...process.env, KEY: admin.apiKey },
  });
  await rm(folder, { recursive: true });
  const texts = stdout.split('\0').slice(0, -1);
  const place = expect.stringMatching(/^\{ country: 'France', city: '(Paris|Rome)' \}\n$/);
  expect(texts).toEqual([answer, answer, answer, answer + answer, answer, answer, '7 + 5 = 12.', place, place, place]);
});

it('libraries read objects from answers in JSON', async () => {
  const Facts = z.object({
    city: z.string().max(12).describe('A city'),
    people: z.number().int(),
    area: z.number().min(0).max(1_000),
    size: z.enum(['small', 'large']).nullable(),
    rivers: z.array(z.object({ name: z.string().max(9), isLong: z.boolean() })).max(2),
    twin: z.union([z.literal('Rome'), z.null()]),
  });
  const compatible = (more: object) => createOpenAICompatible({ name: 'tenon', ...options(), ...more })(project);
  const langchain = new ChatOpenAI({ model: project, apiKey: admin.apiKey, configuration: { baseURL: baseURL() } });
  const { completions } = new OpenAI(options()).chat;
  const parsed = completions.parse({ model: project, messages, response_format: zodResponseFormat(Facts, 'facts') });
  const streamed = completions.stream({ model: project, messages, response_format: zodResponseFormat(Facts, 'facts') });
  const found = await Promise.all([
    parsed.then(({ choices }) => choices[0]?.message.parsed),
    streamed.finalChatCompletion().then(({ choices }) => choices[0]?.message.parsed),
    generateObject({ model: compatible({ supportsStructuredOutputs: true }), schema: Facts, prompt }).then(
      ({ object }) => object,
    ),
    generateObject({ model: createOpenAI(options()).chat(project), schema: Facts, prompt }).then(
      ({ object }) => object,
    ),
    langchain.withStructuredOutput(Facts).invoke(prompt),
  ]);
  for (const one of found) expect(Facts.parse(one)).toEqual(one);
  const any = await generateObject({ model: compatible({}), output: 'no-schema', prompt });
  expect(any.object).toEqual(expect.any(Object));
  const jsonMode = langchain.withStructuredOutput(z.object({}), { method: 'jsonMode' });
  expect(await jsonMode.invoke(prompt)).toEqual(expect.any(Object));
});

interface Recorded {
  readonly client: string;
  readonly headers: Record<string, string>;
  /** Lists the bodies of chats. Null stands for a request for the list of models. */
  readonly requests: ({ stream?: boolean; stream_options?: { include_usage: boolean } } | null)[];
}

const recorded: Recorded[] = JSON.parse(readFileSync(join(root, 'tests/fixtures/openai-requests.json'), 'utf8'));

/** Sends the requests of clients that do not run here. They are recorded, or taken from the sources of the clients. */
it.each(recorded)('the requests of $client are accepted', async ({ headers, requests }) => {
  for (const body of requests) {
    const [method, path] = body ? ['POST', '/openai/v1/chat/completions'] : ['GET', '/openai/v1/models'];
    const asked = { token: admin.apiKey, headers, ...(body && { json: { ...body, model: project } }) };
    const got = await service.call(method as string, path as string, asked);
    expect({ body, status: got.status }).toEqual({ body, status: 200 });
    expect(got.headers.get('x-ratelimit-remaining-requests')).toMatch(/^\d+$/);
    if (!body) expect(got.body.data.map(({ id }: { id: string }) => id)).toEqual(['Capitals', 'Elsewhere']);
    else if (body.stream) expectEvents(got, body.stream_options?.include_usage === true);
    else expect(got.body.choices[0].message).toEqual({ role: 'assistant', content: answer, refusal: null });
  }
});

function expectEvents({ headers, body }: { headers: Headers; body: string }, withUsage: boolean): void {
  expect(headers.get('content-type')).toMatch(/^text\/event-stream/);
  const events = body.split('\n\n').filter((event) => !event.startsWith(':'));
  expect(events.splice(-2)).toEqual(['data: [DONE]', '']);
  const chunks = events.map((event) => JSON.parse(event.replace(/^data: /, '')));
  const common = { id: chunks[0].id, object: 'chat.completion.chunk', created: chunks[0].created, model: project };
  for (const chunk of chunks) expect(chunk).toMatchObject(common);
  expect(chunks[0].choices[0].delta).toMatchObject({ role: 'assistant' });
  if (withUsage) {
    const { choices, usage } = chunks.pop();
    expect(choices).toEqual([]);
    expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
  }
  expect(chunks.at(-1).choices).toEqual([{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }]);
  const texts = chunks.map(({ choices }) => choices[0].delta.content ?? '');
  expect(texts.join('')).toBe(answer);
  for (const chunk of chunks) expect(chunk.usage).toBe(withUsage ? null : undefined);
}

describe('the openai library', () => {
  const client = (apiKey?: string) => new OpenAI({ ...options(apiKey), maxRetries: 0 });
  const failure = (more: object, apiKey?: string): Promise<InstanceType<typeof OpenAI.APIError>> =>
    client(apiKey)
      .chat.completions.create({ model: project, messages, ...more })
      .then(
        () => Promise.reject(new Error('it was answered')),
        (error) => error,
      );

  it('lists models, and reads one by id or name', async () => {
    const { models } = client();
    const listed = (await models.list()).data;
    expect(listed.map(({ id, object }) => [id, object])).toEqual([
      ['Capitals', 'model'],
      ['Elsewhere', 'model'],
    ]);
    expect(await models.retrieve(project)).toEqual(listed[0]);
    expect(await models.retrieve('Elsewhere')).toEqual(listed[1]);
    await expect(models.retrieve('gpt-4o')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it('throws the error class of each refusal and failure, with its code and parameter', async () => {
    const { BadRequestError, NotFoundError, InternalServerError, RateLimitError } = OpenAI;
    const cases: [object, unknown, string, string | null, Script?][] = [
      [{ model: 'gpt-4o' }, NotFoundError, 'not_found', 'model'],
      [{ messages: [{ role: 'user', content: 1 }] }, BadRequestError, 'invalid_request', 'messages[0].content'],
      [{ modalities: ['audio'] }, BadRequestError, 'unsupported_parameter', 'modalities'],
      [{ model: elsewhere }, RateLimitError, 'model_busy', null, answering(429, {})],
      [{ model: elsewhere }, InternalServerError, 'inference_timeout', null, answering(504, '')],
    ];
    for (const [more, type, code, param, script = speaking()] of cases) {
      for (const stream of [false, true]) {
        engine.script = script;
        const error = await failure({ ...more, stream });
        expect([code, stream, error.code, error.param]).toEqual([code, stream, code, param]);
        expect(error).toBeInstanceOf(type);
        expect(error.requestID).toMatch(/^req_/);
        expect(Object.keys(error.error as object).sort()).toEqual(['code', 'message', 'param', 'type']);
      }
    }
    const tenon = createOpenAICompatible({ name: 'tenon', ...options() });
    const unknown = generateText({ model: tenon('gpt-4o'), prompt });
    await expect(unknown).rejects.toBeInstanceOf(APICallError);
    await expect(unknown).rejects.toMatchObject({ statusCode: 404, data: { error: { code: 'not_found' } } });
    const error = await failure({}, 'nonsense');
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error.code).toBe('unauthenticated');
  });
});

it('libraries wait as long as Retry-After says, and do not retry if that cannot help', async () => {
  const arrivals = new Map<string, number[]>();
  engine.script = (asked, response) => {
    const who = JSON.stringify(asked.body.messages.at(-1).content);
    const times = [...(arrivals.get(who) ?? []), performance.now()];
    arrivals.set(who, times);
    if (who.includes('nonsense')) return answering(200, 'nonsense')(asked, response);
    if (who.includes('too late')) return answering(504, 'too late')(asked, response);
    const busy = answering(429, {}, { 'Retry-After': '1' });
    return (times.length === 1 ? busy : speaking())(asked, response);
  };
  const model = await projectElsewhere();
  const failing = await projectElsewhere();
  const client = new OpenAI(options());
  const tenon = createOpenAICompatible({ name: 'tenon', ...options() })(model);
  const langchain = new ChatOpenAI({ model, apiKey: admin.apiKey, configuration: { baseURL: baseURL() } });
  const ask = (content: string, of = model) => ({ model: of, messages: [{ role: 'user' as const, content }] });
  await Promise.all([
    client.chat.completions.create(ask('openai')),
    generateText({ model: tenon, prompt: 'ai' }),
    langchain.invoke('langchain'),
    expect(client.chat.completions.create(ask('nonsense', failing))).rejects.toMatchObject({ status: 502 }),
    expect(client.chat.completions.create(ask('too late', failing))).rejects.toMatchObject({ status: 504 }),
  ]);
  for (const who of ['"nonsense"', '"too late"']) {
    expect(arrivals.get(who)).toHaveLength(1);
    arrivals.delete(who);
  }
  expect(arrivals.size).toBe(3);
  for (const [who, [first = 0, second = 0, ...more]] of arrivals)
    expect([who, second - first >= 990, more.length]).toEqual([who, true, 0]);
});

it('libraries report a stream that breaks', async () => {
  const first = chunk('m', { role: 'assistant', content: 'The' });
  engine.script = streaming(first);
  const model = await projectElsewhere();
  const code = 'runtime_invalid_response';
  const openai = await new OpenAI(options()).chat.completions.create({ model, messages, stream: true });
  let seen = '';
  const read = joined(openai, ({ choices }) => {
    seen += choices[0]?.delta.content ?? '';
    return '';
  });
  await expect(read).rejects.toMatchObject({ code, type: 'server_error' });
  expect(seen).toBe('The');
  const langchain = new ChatOpenAI({ model, apiKey: admin.apiKey, configuration: { baseURL: baseURL() } });
  await expect(joined(await langchain.stream(prompt), ({ text }) => text)).rejects.toMatchObject({ code });
  for (const chat of [createOpenAICompatible({ name: 'tenon', ...options() }), createOpenAI(options()).chat]) {
    const errors: unknown[] = [];
    const { textStream } = streamText({ model: chat(model), prompt, onError: ({ error }) => void errors.push(error) });
    expect(await joined(textStream, (text) => text)).toBe('The');
    expect(JSON.stringify(errors)).toContain(code);
  }
});
