import OpenAI from 'openai';
import { ChatRuntimes } from '../../src/application/chat/ports.js';
import {
  InferenceTimeout,
  ModelBusy,
  RuntimeInvalidResponse,
  RuntimeLoading,
  RuntimeStopped,
  RuntimeUnavailable,
} from '../../src/domain/chat/errors.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { createProject, type Member, readyProject } from '../support/workspace.js';
import { TestApp } from './support/test-app.js';

const path = '/openai/v1/embeddings';

describe('embeddings on the OpenAI endpoint', () => {
  let app: TestApp;
  let admin: Member;
  let embedding: string;
  let chatting: string;
  let bare: string;
  let embedTexts: (texts: readonly string[], signal: AbortSignal) => unknown;

  beforeAll(async () => {
    const models = { 'tiny-embed': { embed: (...call: Parameters<typeof embedTexts>) => embedTexts(...call) } };
    ({ app, admin } = await TestApp.withTeam({
      adapt: (container) => container.rebind(ChatRuntimes).toConstantValue(new MemoryChatRuntimes(models)),
    }));
    embedding = await readyProject(app, admin.token, { runtime: 'onnx', path: 'tiny-embed' });
    chatting = await readyProject(app, admin.token);
    bare = await createProject(app, admin.token);
  });
  afterAll(() => app.stop());
  beforeEach(() => {
    embedTexts = () => undefined;
  });

  const embed = (over: object = {}) => app.post(path, admin.apiKey, { model: embedding, input: 'a cat', ...over });
  const refused = async (over: object) => {
    const { status, body } = await embed(over);
    expect(Object.keys(body)).toEqual(['error']);
    const { type, code, param } = body.error;
    return `${status} ${type} ${code} ${param}`;
  };

  it('answers as OpenAI does, with numbers or in base64, and counts the call', async () => {
    embedTexts = (texts) => texts.map((_, i) => Float32Array.of(i, 0.1, -1e-9));
    const [whole, small] = [Math.fround(0.1), Math.fround(-1e-9)];
    const { status, body, headers } = await embed({ input: ['a cat', 'two small dogs'], user: 'u', dimensions: null });
    const item = (index: number) => ({ object: 'embedding', index, embedding: [index, whole, small] });
    const usage = { prompt_tokens: 5, total_tokens: 5 };
    expect({ status, body }).toEqual({
      status: 200,
      body: { object: 'list', data: [item(0), item(1)], model: embedding, usage },
    });
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    const { body: coded } = await embed({ encoding_format: 'base64' });
    expect(coded.data).toEqual([{ object: 'embedding', index: 0, embedding: 'AAAAAM3MzD1fcImw' }]);
    const client = new OpenAI({ baseURL: `${app.url}/openai/v1`, apiKey: admin.apiKey });
    const many = Array.from({ length: 2_048 }, (_, i) => `text ${i}`);
    embedTexts = (texts) => texts.map((_, i) => Float32Array.from({ length: 16 }, () => i));
    const { data } = await client.embeddings.create({ model: embedding, input: many });
    expect(data.map(({ index, embedding: [first] }) => [index, first])).toEqual(many.map((_, i) => [i, i]));
    const floats = await client.embeddings.create({ model: embedding, input: many, encoding_format: 'float' });
    expect(floats.data.at(-1)).toEqual({ object: 'embedding', index: 2_047, embedding: Array(16).fill(2_047) });
    const { jobs } = (await app.get('/v1/jobs?kind=embedding&limit=1', admin.token)).body;
    expect(jobs).toMatchObject([{ kind: 'embedding', mode: 'sync', status: 'succeeded', project_id: embedding }]);
    const { usage: buckets } = (await app.get('/v1/usage?group_by=project', admin.token)).body;
    expect(buckets).toMatchObject([{ group: embedding, calls: 4, tokens_in: 5 + 2 + 2 * 4_096, tokens_out: 0 }]);
  });

  it('tells the task of a model, and refuses the other task', async () => {
    const task = async (id: string) => (await app.get(`/v1/projects/${id}/runtime`, admin.token)).body.task;
    expect([await task(embedding), await task(bare)]).toEqual(['embedding', null]);
    const wrong = '400 invalid_request_error invalid_request model';
    expect(await refused({ model: chatting })).toBe(wrong);
    const messages = [{ role: 'user', content: 'Hi' }];
    const json = { model: embedding, messages };
    expect((await app.post('/openai/v1/chat/completions', admin.apiKey, json)).body.error).toMatchObject({
      code: 'invalid_request',
      param: 'model',
    });
    expect(await app.post(`/v1/projects/${embedding}/chat/completions`, admin.apiKey, json)).toMatchObject({
      status: 422,
      body: { code: 'invalid_request', details: [{ path: 'model' }] },
    });
  });

  it.each<[string, object]>([
    ['model', { model: undefined }],
    ['input', { input: undefined }],
    ['input', { input: null }],
    ['input', { input: '' }],
    ['input', { input: [] }],
    ['input', { input: Array(2_049).fill('x') }],
    ['input[1]', { input: ['x', ''] }],
    ['input[1]', { input: ['x', 7] }],
    ['input[0]', { input: [1, 2] }],
    ['input[0]', { input: [[1, 2]] }],
    ['encoding_format', { encoding_format: 'int8' }],
    ['dimensions', { dimensions: 0 }],
    ['dimensions', { dimensions: 1.5 }],
  ])('refuses a bad %s in any state of the runtime (%#)', async (param, over) => {
    expect(await refused({ model: bare, ...over })).toBe(`400 invalid_request_error invalid_request ${param}`);
  });

  it('refuses unsupported requests, and reports failures, with their own codes', async () => {
    const wrong = '400 invalid_request_error';
    expect(await refused({ truncate: true })).toBe(`${wrong} unknown_parameter truncate`);
    expect(await refused({ dimensions: 8 })).toBe(`${wrong} unsupported_parameter dimensions`);
    expect(await refused({ input: ['x', 'x '.repeat(300)] })).toBe(`${wrong} context_length_exceeded input`);
    expect(await refused({ model: 'nothing' })).toBe('404 invalid_request_error not_found model');
    expect(await refused({ model: bare })).toBe('503 server_error runtime_not_connected null');
    const failures: [string, Error][] = [
      ['429 rate_limit_error model_busy', new ModelBusy(3)],
      ['502 server_error runtime_invalid_response', new RuntimeInvalidResponse('it is empty.')],
      ['503 server_error runtime_loading', new RuntimeLoading()],
      ['503 server_error runtime_stopped', new RuntimeStopped()],
      ['503 server_error runtime_unavailable', new RuntimeUnavailable('it is gone')],
      ['504 server_error inference_timeout', new InferenceTimeout(60)],
    ];
    for (const [expected, error] of failures) {
      embedTexts = () => Promise.reject(error);
      expect(await refused({})).toBe(`${expected} null`);
    }
  });
});
