import { randomUUID } from 'node:crypto';
import { ChatRuntimes, ResponseRepository, type RuntimeCall } from '../../src/application/chat/ports.js';
import { ResponseRunner } from '../../src/application/chat/response-runner.js';
import { MemoryBudget } from '../../src/application/shared/memory-budget.js';
import type { ChatRequest, Completion, CompletionPart } from '../../src/domain/chat/chat.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { query } from '../support/database.js';
import { type Member, readyProject, register } from '../support/workspace.js';
import { statusAndCode } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const MB = 1024 * 1024;
const LARGE = 200 * 1024;
const responses = '/openai/v1/responses';

/** Takes memory for its answer, as an engine elsewhere does. */
class ReservingRuntimes extends MemoryChatRuntimes {
  override async complete(id: string, request: ChatRequest, call: RuntimeCall): Promise<Completion> {
    await call.memory.reserveBytes(1);
    return super.complete(id, request, call);
  }

  override async *stream(id: string, request: ChatRequest, call: RuntimeCall): AsyncGenerator<CompletionPart> {
    await call.memory.reserveBytes(1);
    yield* super.stream(id, request, call);
  }
}

describe('limits of responses', () => {
  let app: TestApp;
  let admin: Member;
  let ready: string;
  const budget = new MemoryBudget(MB, 50);
  let said = 'Hello';
  /** Called while the model answers. */
  let during: () => Promise<unknown> = async () => undefined;

  beforeAll(async () => {
    const answer = async () => {
      await during();
      return said;
    };
    app = await TestApp.start({
      adapt: (container) => {
        container.rebind(MemoryBudget).toConstantValue(budget);
        container.rebind(ChatRuntimes).toConstantValue(new ReservingRuntimes({ 'tiny-chat': { answer } }));
      },
    });
    admin = await register(app, 'Ada');
    ready = await readyProject(app, admin.token);
  });
  afterAll(() => app.stop());
  beforeEach(() => {
    during = async () => undefined;
    said = 'Hello';
  });

  const create = (over: object = {}) => app.post(responses, admin.apiKey, { model: ready, input: 'Hi', ...over });
  const long = 'x'.repeat(LARGE);
  /** Tells whether another account gets memory for large content. */
  const isFree = async () => {
    const other = budget.open('usr_other');
    const isBusy = await other.reserveBytes(MB).then(
      () => false,
      () => true,
    );
    other.close();
    return !isBusy;
  };

  it('memory is held as long as the contents of earlier responses that a request continues or refers to', async () => {
    const first = (await create({ input: long })).body;
    const item = { type: 'item_reference', id: first.output[0].id };
    const free: boolean[] = [];
    during = async () => void free.push(await isFree());
    for (const stream of [false, true]) {
      expect((await create({ previous_response_id: first.id, stream })).status).toBe(200);
      expect((await create({ input: [item], stream })).status).toBe(200);
    }
    expect(free).toEqual([false, false, false, false]);
    expect(await isFree()).toBe(true);
  });

  it('memory is held as long as a response in the background is made or followed', async () => {
    const { id } = (await create({ input: long, background: true })).body;
    const free: boolean[] = [];
    during = async () => void free.push(await isFree());
    const run = { number: 1, signal: new AbortController().signal };
    await app.container.get(ResponseRunner).run({ response_id: id }, run);
    expect(free).toEqual([false]);
    expect(await isFree()).toBe(true);

    const reading = jest.spyOn(app.container.get(ResponseRepository), 'batches').mockImplementationOnce(async () => {
      free.push(await isFree());
      return [];
    });
    const followed = await app.get(`${responses}/${id}?stream=true`, admin.apiKey);
    expect(followed.body).toContain('event: response.completed');
    reading.mockRestore();
    expect(free).toEqual([false, false]);
    expect(await isFree()).toBe(true);
  });

  it('continues at most 1,000 earlier responses', async () => {
    const { id } = (await create()).body;
    const many = `
      INSERT INTO responses (id, account_id, project_id, status, background, previous_id, messages, repeated, output,
                             created_at, stored_bytes)
      SELECT 'resp_' || n, account_id, project_id, 'completed', false, CASE WHEN n > 1 THEN 'resp_' || n - 1 END,
             '[]', '{}', '[]', now(), 2 FROM responses, generate_series(1, 1001) n WHERE id = $1`;
    await query(app.database.url, many, [id]);
    const following = (n: number) => create({ previous_response_id: `resp_${n}` });
    expect(statusAndCode(await following(1_000))).toBe('200 undefined');
    const error = { code: 'invalid_request', param: 'previous_response_id' };
    expect(await following(1_001)).toMatchObject({ status: 400, body: { error } });
  });

  it('refuses references to more responses than one request may continue', async () => {
    const item = () => ({ type: 'item_reference', id: `msg_${randomUUID()}-0` });
    const many = (count: number) => create({ input: Array.from({ length: count }, item) });
    expect(await many(1_000)).toMatchObject({ status: 400, body: { error: { param: 'input[0].id' } } });
    expect(await many(1_001)).toMatchObject({ status: 400, body: { error: { param: 'input' } } });
  });

  it('is incomplete if the answer reached the greatest length', async () => {
    said = 'one two three';
    const { body } = await create({ max_output_tokens: 1 });
    expect(body).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      completed_at: null,
      output: [{ status: 'incomplete', content: [{ text: 'one' }] }],
    });
  });
});
