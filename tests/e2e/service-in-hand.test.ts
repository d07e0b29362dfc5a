import { once } from 'node:events';
import { PasswordHasher } from '../../src/application/accounts/ports.js';
import { ChatRuntime } from '../../src/application/chat/ports.js';
import { HashingBusy } from '../../src/domain/accounts/errors.js';
import type { ChatRequest } from '../../src/domain/chat/chat.js';
import { InferenceTimeout, RuntimeInvalidResponse } from '../../src/domain/chat/errors.js';
import { InvalidRequest } from '../../src/domain/shared/errors.js';
import { barrier } from '../support/barrier.js';
import { ClockedApp } from '../support/clocked-app.js';
import { mailedToken } from '../support/mailbox.js';
import { UNLIMITED } from '../support/service.js';
import {
  ask,
  completions,
  createProject,
  type Member,
  password,
  register,
  registeredModel,
} from '../support/workspace.js';

const HEADER = 'X-Conversation-Id';

type Answering = (request: ChatRequest, signal: AbortSignal) => Promise<string>;

/** The service within this process, with adapters that the test replaces. */
describe('a service in hand', () => {
  let app: ClockedApp;
  let admin: Member;
  let project: string;
  let answering: Answering;
  /** The password hasher fails with it. */
  let failure: Error | null = null;

  beforeAll(async () => {
    const runtimes: ChatRuntime = {
      source: async () => ({ kind: 'any' }),
      start: () => undefined,
      stop: async () => undefined,
      status: () => ({ state: 'ready', reason: null }),
      figures: () => new Map(),
      complete: async (_, request, _caller, signal) => ({
        text: await answering(request, signal),
        finishReason: 'stop',
        usage: null,
      }),
      close: async () => undefined,
    };
    const failing = <T>(work: () => T): T => {
      if (failure) throw failure;
      return work();
    };
    app = await ClockedApp.start(UNLIMITED, (container) => {
      const hasher = container.get(PasswordHasher);
      container.rebind(PasswordHasher).toConstantValue({
        hash: async (text) => failing(() => hasher.hash(text)),
        matches: async (text, hash) => failing(() => hasher.matches(text, hash)),
      });
      container.rebind(ChatRuntime).toConstantValue(runtimes);
    });
    admin = await register(app, 'Ada');
    project = await readyProject();
  });
  afterAll(() => app.stop());
  beforeEach(() => {
    answering = async () => 'Hello';
    failure = null;
  });

  const readyProject = async () => {
    const id = await createProject(app, admin.token);
    const model = await registeredModel(app, admin.token, id);
    await app.put(`/v1/projects/${id}/runtime`, admin.token, { model_id: model });
    await app.post(`/v1/projects/${id}/runtime/start`, admin.token);
    return id;
  };
  const at = (rest = '') => `/v1/projects/${project}/conversations${rest}`;
  const chat = (kept: string, content = 'Hi', signal?: AbortSignal, to = project) =>
    app.call('POST', completions(to), {
      token: admin.apiKey,
      json: ask(to, content),
      headers: { [HEADER]: kept },
      ...(signal && { signal }),
    });
  const begun = async () => (await chat('new')).headers.get(HEADER) as string;
  const count = async () => (await app.get(at('?limit=1000'), admin.token)).body.count as number;
  const said = async (id: string) =>
    (await app.get(at(`/${id}`), admin.token)).body.messages.map(({ content }: { content: string }) => content);

  describe('has a conversation whose answer is being made', () => {
    it.each([
      [502, new RuntimeInvalidResponse('nonsense')],
      [504, new InferenceTimeout(60)],
    ])('keeps nothing of a call that ends with %i', async (status, failure) => {
      const id = await begun();
      const before = await count();
      answering = async () => {
        throw failure;
      };
      for (const kept of ['new', id]) {
        const refused = await chat(kept);
        expect(refused.status).toBe(status);
        expect(refused.headers.has(HEADER)).toBe(false);
        expect(refused.headers.get('x-should-retry')).toBe('false');
        expect(refused.body.code).toBe(failure.code);
      }
      expect(await count()).toBe(before);
      expect(await said(id)).toEqual(['Hi', 'Hello']);
    });

    it('keeps nothing for a caller who went away, even if the answer still came', async () => {
      const id = await begun();
      const before = await count();
      for (const kept of ['new', id]) {
        const goner = new AbortController();
        const answered = new Promise<void>((resolve) => {
          answering = async (_, signal) => {
            const gone = once(signal, 'abort');
            goner.abort();
            await gone;
            setImmediate(resolve);
            return 'too late';
          };
        });
        await expect(chat(kept, 'Hi', goner.signal)).rejects.toThrow();
        await answered;
      }
      answering = async () => 'Hello';
      expect((await chat(id, 'still there?')).status).toBe(200);
      expect(await count()).toBe(before);
      expect(await said(id)).toEqual(['Hi', 'Hello', 'still there?', 'Hello']);
    });

    it('is not found when it was deleted meanwhile, and does not come back', async () => {
      const id = await begun();
      const before = await count();
      answering = async () => {
        await app.delete(at(`/${id}`), admin.token);
        return 'Hello';
      };
      const { status, body, headers } = await chat(id);
      expect({ status, code: body.code }).toEqual({ status: 404, code: 'not_found' });
      expect(headers.has(HEADER)).toBe(false);
      expect(await count()).toBe(before - 1);
      expect((await app.get(at(`/${id}`), admin.token)).status).toBe(404);
    });

    it('is not found when its project was deleted meanwhile', async () => {
      const doomed = await readyProject();
      answering = async () => {
        await app.delete(`/v1/projects/${doomed}`, admin.token);
        return 'Hello';
      };
      const { status, body } = await chat('new', 'Hi', undefined, doomed);
      expect({ status, code: body.code }).toEqual({ status: 404, code: 'not_found' });
    });

    it('keeps two turns at once, each whole', async () => {
      const id = await begun();
      const bothAreAsked = barrier(2);
      answering = async ({ messages }) => {
        await bothAreAsked();
        return `You said ${messages.at(-1)?.content}`;
      };
      const answers = await Promise.all([chat(id, 'left'), chat(id, 'right')]);
      expect(answers.map(({ status, headers }) => [status, headers.get(HEADER)])).toEqual([
        [200, id],
        [200, id],
      ]);
      const turns = (await said(id)).slice(2);
      const whole = ['left', 'You said left', 'right', 'You said right'];
      expect(turns[0] === 'left' ? turns : [...turns.slice(2), ...turns.slice(0, 2)]).toEqual(whole);
    });

    it('keeps what a model says that no database takes', async () => {
      answering = async () => 'NUL \0 and half \ud800 of a pair \u{1F986}';
      const { status, headers } = await chat('new');
      expect(status).toBe(200);
      expect(await said(headers.get(HEADER) as string)).toEqual([
        'Hi',
        'NUL \ufffd and half \ufffd of a pair \u{1F986}',
      ]);
    });
  });

  describe('whose adapters fail', () => {
    it('says that the hashing lane is full', async () => {
      const email = 'ada@example.com';
      const { token } = admin;
      await app.post('/v1/auth/password/forgot', undefined, { email });
      const reset = await mailedToken(app, email, 'tnr');
      failure = new HashingBusy();
      const calls = [
        app.post('/v1/auth/register', undefined, { name: 'Cid', email: 'cid@example.com', password }),
        app.post('/v1/auth/login', undefined, { email, password }),
        app.post('/v1/auth/password/reset', undefined, { token: reset, password }),
        app.call('PATCH', '/v1/auth/me', { token, json: { password: 'another one', current_password: password } }),
      ];
      for (const answer of await Promise.all(calls)) {
        expect(answer).toMatchObject({ status: 503, body: { code: 'busy' } });
        expect(answer.headers.get('retry-after')).toBe('2');
      }
    });

    it('tells nothing of an unexpected failure but that it happened', async () => {
      failure = new Error('the inner detail of it');
      const { status, body } = await app.post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
      expect({ status, code: body.code }).toEqual({ status: 500, code: 'internal_error' });
      expect(JSON.stringify(body)).not.toContain('inner detail');
    });

    it('stays within the envelope where a refusal cannot be written', async () => {
      failure = new InvalidRequest([{ path: 'x', message: 1n as unknown as string }]);
      const { status, body } = await app.post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
      expect({ status, code: body.code }).toEqual({ status: 500, code: 'internal_error' });
      expect(Object.keys(body)).toEqual(['status', 'code', 'error', 'request_id']);
    });
  });
});
