import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { Masker } from '../../src/application/record/ports.js';
import type { ChatRequest, CompletionPart } from '../../src/domain/chat/chat.js';
import { RuntimeUnavailable } from '../../src/domain/chat/errors.js';
import { callLimits } from '../../src/domain/record/kept-part.js';
import { maskKinds } from '../../src/domain/record/recording.js';
import type { JsonObject } from '../../src/domain/workspace/json.js';
import { written } from '../contracts/record/personal-data.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { closeBreakers } from '../support/closed-breakers.js';
import { query } from '../support/database.js';
import { ask, completions, type Member, readyProject } from '../support/workspace.js';
import { TestApp } from './support/test-app.js';

const usage = { promptTokens: 1, cachedTokens: 0, completionTokens: 2 };
const end = { finishReason: 'stop', usage } as const;
const OPENAI = '/openai/v1/chat/completions';

let app: TestApp;
let admin: Member;
let project: string;
/** Makes the answer of the model. */
let answer: (request: ChatRequest) => unknown;
let parts: (request: ChatRequest) => AsyncIterable<CompletionPart>;

const runtimes = new MemoryChatRuntimes(
  {
    'tiny-chat': { answer: async (request) => answer(request), parts: (request) => parts(request) },
    vectors: { embed: async (texts) => texts.map(() => [1, 0]) },
  },
  { context: 1_000_000 },
);

beforeAll(async () => {
  ({ app, admin } = await TestApp.withTeam({
    adapt: (container) => container.rebind(ChatRuntimes).toConstantValue(runtimes),
  }));
});
afterAll(() => app.stop());
beforeEach(async () => {
  closeBreakers(app.container);
  project = await readyProject(app, admin.token);
  answer = () => 'Paris';
  parts = () => spoken('Paris');
});

async function* spoken(...texts: readonly string[]): AsyncIterable<CompletionPart> {
  for (const text of texts) yield { text };
  yield { text: '', end };
}

async function records(record: JsonObject, of = project): Promise<void> {
  const { body } = await app.get(`/v1/projects/${of}`, admin.token);
  const change = { version: body.version, spec: { ...body.spec, record } };
  expect((await app.put(`/v1/projects/${of}`, admin.token, change)).status).toBe(200);
}

const chat = (content: string, more: object = {}) =>
  app.post(completions(project), admin.apiKey, ask(project, content, more));
const openai = (more: object) => app.post(OPENAI, admin.apiKey, { model: project, ...more });
const calls = async (of = project) => (await app.get(`/v1/projects/${of}/calls`, admin.token)).body.calls;

describe('a kept chat', () => {
  it('has figures and no content in a project without settings', async () => {
    const { body } = await chat('Hi');
    const [call] = await calls();
    expect(call).toMatchObject({
      ...{ answer_id: body.id, kind: 'chat', status: 'succeeded', content: 'none', request: null, answer: null },
      ...{
        truncated: false,
        usage: { tokens_in: 1, tokens_out: 1 },
        attempts: [{ outcome: 'answered' }],
        feedback: [],
      },
    });
    expect(call.expires_at - call.created_at).toBeCloseTo(30 * 86_400, 0);
    expect((await app.get(`/v1/jobs/${call.id}`, admin.token)).body).toMatchObject({ kind: 'chat', cost: call.cost });
  });

  it('has the request and the answer in neutral form if the project wants them', async () => {
    await records({ content: 'full', days: 2 });
    const calling = { id: 'call_1', name: 'capital', arguments: '{"of":"France"}' };
    answer = () => ({ text: 'Paris', toolCalls: [calling] });
    const parameters = { type: 'object', properties: { of: { type: 'string' } } };
    const { body } = await openai({
      messages: [
        { role: 'system', content: 'Be short.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Capital?' },
            { type: 'image_url', image_url: { url: 'https://e.org/x.png' } },
          ],
        },
      ],
      ...{ tools: [{ type: 'function', function: { name: 'capital', parameters } }], temperature: 0.5, top_p: 0.9 },
    });
    const [call] = await calls();
    expect(call).toMatchObject({
      ...{ answer_id: body.id, content: 'full' },
      request: {
        ...{ temperature: 0.5, top_p: 0.9, tools: [{ name: 'capital', parameters }] },
        messages: [
          { role: 'system', content: 'Be short.' },
          { role: 'user', content: [{ text: 'Capital?' }, { image: 'not kept' }] },
        ],
      },
      answer: { role: 'assistant', content: 'Paris', tool_calls: [calling], finish_reason: 'tool_calls' },
    });
    expect(call.expires_at - call.created_at).toBeCloseTo(2 * 86_400, 0);
  });

  it('has the parts of a stream as one answer, and what was made of one that breaks', async () => {
    await records({ content: 'full' });
    parts = async function* () {
      yield { text: '', reasoning: 'Fr' };
      yield { text: 'Pa', reasoning: 'ance' };
      yield { text: 'ris', toolCalls: [{ index: 0, id: 'c', name: 'f', arguments: '{"a"' }] };
      yield { text: '', toolCalls: [{ index: 0, arguments: ':1}' }] };
      yield { text: '', end: { ...end, finishReason: 'tool_calls' } };
    };
    await openai({ messages: [{ role: 'user', content: 'Hi' }], stream: true });
    parts = async function* () {
      yield { text: 'Lon' };
      throw new RuntimeUnavailable('it broke.');
    };
    await openai({ messages: [{ role: 'user', content: 'Ho' }], stream: true });
    expect(await calls()).toMatchObject([
      { status: 'failed', failure: 'runtime_unavailable', answer: { content: 'Lon', finish_reason: null } },
      {
        status: 'succeeded',
        answer: {
          ...{ content: 'Paris', reasoning: 'France', finish_reason: 'tool_calls' },
          tool_calls: [{ id: 'c', name: 'f', arguments: '{"a":1}' }],
        },
      },
    ]);
  });

  it('is left out by the share', async () => {
    await records({ share: 0, content: 'full' });
    await chat('Hi');
    expect(await calls()).toEqual([]);
    await records({ share: 1, content: 'full' });
    await chat('Hi');
    expect(await calls()).toHaveLength(1);
  });

  it('has the beginning of a side that is too long, and says so', async () => {
    await records({ content: 'full', mask: ['email'] });
    const long = '€"'.repeat(8_000); // 6 bytes as JSON for each pair
    answer = () => long.repeat(10);
    await openai({ messages: Array.from({ length: 4 }, () => ({ role: 'user', content: long.slice(0, 15_990) })) });
    await openai({ messages: [{ role: 'user', content: 'Hi' }] });
    const [short, both] = await calls();
    expect(short).toMatchObject({ truncated: true, request: { messages: [{ content: 'Hi' }] } });
    expect(both.truncated).toBe(true);
    const bytes = Buffer.byteLength(JSON.stringify(short.answer));
    expect(bytes).toBeLessThanOrEqual(callLimits.sideBytes + 200);
    expect(bytes).toBeGreaterThan(callLimits.sideBytes - 1_000);
    expect(long.repeat(10).startsWith(short.answer.content)).toBe(true);
  });

  it('has the masked beginning of a side that is too long to be masked as a whole', async () => {
    await records({ content: 'full', mask: ['email'] });
    const long = 'ada@example.com '.repeat(25_000); // the masked beginning has fewer bytes than a side may have
    answer = () => long;
    parts = async function* () {
      for (let at = 0; at < long.length; at += 10_001) yield { text: long.slice(at, at + 10_001) };
      yield { text: '', end };
    };
    await openai({ messages: [{ role: 'user', content: long }] });
    await openai({ messages: [{ role: 'user', content: JSON.stringify([long]) }], stream: true });
    const [streamed, whole] = await calls();
    for (const text of [whole.request.messages[0].content, whole.answer.content, streamed.answer.content]) {
      expect(text).toMatch(/^(?:\[email\] ){16000,}$/);
    }
    expect(streamed.request.messages[0].content).toBe('');
    expect([streamed.truncated, whole.truncated]).toEqual([true, true]);
  });

  it('keeps the texts of an embedding, and no vectors', async () => {
    const vectors = await readyProject(app, admin.token, { runtime: 'onnx', path: 'vectors' });
    await records({ content: 'full', mask: ['email'] }, vectors);
    await app.post('/openai/v1/embeddings', admin.apiKey, { model: vectors, input: ['Hi ada@example.com'] });
    expect(await calls(vectors)).toMatchObject([
      { kind: 'embedding', answer_id: null, request: { texts: ['Hi [email]'] }, answer: null },
    ]);
  });
});

describe('a secret', () => {
  const secrets = Object.entries(written).map(([kind, texts]) => [kind, texts[0] as string] as const);
  const masked = secrets.map(([kind]) => `[${kind}]`).join(' and ');
  const planted = secrets.map(([, text]) => text).join(' and ');

  /** Returns the names of all columns in which one of the secrets stands. */
  async function found(): Promise<string[]> {
    const columns = await query<{ place: string; sql: string }>(
      app.database.url,
      `SELECT table_name || '.' || column_name AS place,
              format('SELECT 1 FROM %I WHERE ', table_name) || format('%I::text LIKE ANY ($1)', column_name) AS sql
         FROM information_schema.columns WHERE table_schema = current_schema() AND table_name IN
              ('calls', 'jobs', 'call_feedback', 'own_calls', 'conversation_messages', 'audit_entries')`,
    );
    const patterns = secrets.map(([, text]) => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`);
    const hits = await Promise.all(
      columns.map(async ({ place, sql }) =>
        (await query(app.database.url, sql, [patterns])).length > 0 ? [place] : [],
      ),
    );
    return hits.flat();
  }

  it('is in no table, no line of the log and no export, wherever it was', async () => {
    await records({ content: 'full', mask: [...maskKinds] });
    answer = () => ({
      text: planted,
      toolCalls: [{ id: 'c', name: 'f', arguments: JSON.stringify({ text: planted }) }],
    });
    const parameters = { type: 'object', properties: { text: { type: 'string', description: planted } } };
    await openai({
      messages: [
        { role: 'system', content: planted },
        { role: 'user', content: planted },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'c', type: 'function', function: { name: 'f', arguments: JSON.stringify({ a: planted }) } },
          ],
        },
        { role: 'tool', tool_call_id: 'c', content: planted },
        { role: 'user', content: 'And now?' },
      ],
      tools: [{ type: 'function', function: { name: 'f', description: planted, parameters } }],
    });
    const [call] = await calls();
    expect(call.answer.content).toBe(masked);
    expect(call.request.messages).toHaveLength(5);
    expect(await found()).toEqual([]);
    const exported = await app.get(`/v1/projects/${project}/calls/export`, admin.token);
    const seen = JSON.stringify([exported.body, app.logger.lines, call]);
    for (const [, text] of secrets) expect(seen).not.toContain(JSON.stringify(text).slice(1, -1));
  });

  it('is masked in a stream that cuts it at any place', async () => {
    await records({ content: 'full', mask: [...maskKinds] });
    const [, email] = secrets.find(([kind]) => kind === 'email') as (typeof secrets)[number];
    for (let at = 0; at <= email.length; at++) {
      parts = () => spoken('Write to ', email.slice(0, at), email.slice(at), ' now');
      await openai({ messages: [{ role: 'user', content: 'Hi' }], stream: true });
    }
    const pieces = [...planted];
    parts = () => spoken(...pieces);
    await openai({ messages: [{ role: 'user', content: 'Hi' }], stream: true });
    const [last, ...others] = await calls();
    expect(last.answer.content).toBe(masked);
    for (const other of others) expect(other.answer.content).toBe('Write to [email] now');
    expect(await found()).toEqual([]);
  });

  it('is masked if the texts of a message cut it, also beside an image', async () => {
    await records({ content: 'full', mask: ['email'] });
    const texts = ['I am ada@exam', 'ple.com', ' too'].map((text) => ({ type: 'text', text }));
    const image = { type: 'image_url', image_url: { url: 'https://e.org/x.png' } };
    await openai({ messages: [{ role: 'user', content: [...texts, image, ...texts] }] });
    const [call] = await calls();
    const text = 'I am [email] too';
    expect(call.request.messages[0].content).toEqual([{ text }, { image: 'not kept' }, { text }]);
  });

  it('is masked in the turn of the team, as feedback on the call is', async () => {
    const masking = jest.spyOn(app.container.get(Masker), 'maskJson');
    await records({ content: 'full', mask: ['email'] });
    const { body } = await chat('Hi');
    const [call] = await calls();
    await app.post(`/v1/calls/${body.id}/feedback`, admin.apiKey, { comment: 'Good' });
    const [{ owner } = { owner: '' }] = await query<{ owner: string }>(
      app.database.url,
      'SELECT team_id AS owner FROM calls WHERE id = $1',
      [call.id],
    );
    expect(masking.mock.calls.map(([, , by]) => by)).toEqual([{ owner }, { owner }]);
    masking.mockRestore();
  });

  it('is not kept in part if the answer ends within it', async () => {
    const open = { text: 'See 4111 1111 1111 111', reasoning: 'Of AKIAIOSFODNN7EXAMPL' };
    const toolCalls = [{ index: 0, id: 'c', name: 'f', arguments: '{"to": "ada.lovelace@exam' }];
    const asked = async (last: () => CompletionPart) => {
      parts = async function* () {
        yield { ...open, toolCalls };
        yield last();
      };
      await openai({ messages: [{ role: 'user', content: 'Hi' }], stream: true });
    };
    const broken = () => {
      throw new RuntimeUnavailable('it broke.');
    };
    const atMost = () => ({ text: '', end: { ...end, finishReason: 'length' } }) as const;
    await records({ content: 'full', mask: ['card'] });
    await asked(broken);
    await asked(atMost);
    const kept = { content: 'See ', reasoning: 'Of ', tool_calls: [{ id: 'c', name: 'f', arguments: '{"to"' }] };
    expect(await calls()).toMatchObject([
      { truncated: false, answer: { ...kept, finish_reason: 'length' } },
      { truncated: false, answer: { ...kept, finish_reason: null } },
    ]);
    await records({ content: 'full' });
    await asked(atMost);
    const [unmasked] = await calls();
    expect(unmasked).toMatchObject({ truncated: false, answer: { content: open.text, reasoning: open.reasoning } });
  });

  it('is not stored if the content cannot be masked', async () => {
    await records({ content: 'full', mask: [{ name: 'slow', pattern: '(a+)+$' }] });
    answer = () => 'a'.repeat(250_000);
    expect((await chat('Hi')).status).toBe(200);
    expect(await calls()).toMatchObject([{ content: 'unmaskable', request: null, answer: null, status: 'succeeded' }]);
    expect(app.logger.lines).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        event: 'the content of a call is not kept, because it could not be masked',
      }),
    );
  });
});
