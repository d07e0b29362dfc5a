import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import type { Act, Authority } from '../../src/application/accounts/authority.js';
import { SessionService } from '../../src/application/accounts/session.service.js';
import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { ModelServer } from '../../src/application/deployments/ports.js';
import { Actor } from '../../src/domain/audit/audit-entry.js';
import { RuntimeId } from '../../src/domain/chat/target.js';
import type { Job } from '../../src/domain/jobs/job.js';
import { StorageUnavailable } from '../../src/domain/shared/errors.js';
import { CallWatch } from '../../src/interfaces/http/middleware/call-watch.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { MemoryModelServer } from '../fakes/deployments/memory-model-server.js';
import { RecordingLog } from '../support/recording-log.js';
import { until, within } from '../support/until.js';
import { ask, completions, type Member, password, readyProject, register } from '../support/workspace.js';
import { receivesMail, tokenMailedTo } from './support/mailbox.js';
import { statusAndCode } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const streams = '/openai/v1/chat/completions';
const end = { finishReason: 'stop', usage: null } as const;

/** Twice the time that is promised, for a busy machine. */
const MOST_MS = 4_000;

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

/** The check of permissions runs, but no other background work. */
describe('a running call of a caller who loses the permission', () => {
  let app: TestApp;
  let admin: Member;
  let project: string;
  let accounts = 0;
  /** Lets the model finish all streams. */
  let finish: () => void;
  let finishing: Promise<void>;
  /** Counts the answers that have ended in the runtime. */
  let ended: number;

  const runtimes = new MemoryChatRuntimes(
    {
      'tiny-chat': {
        answer: (_, signal) => untilAborted(signal),
        async *parts(_, signal) {
          try {
            yield { text: 'Hello' };
            await Promise.race([untilAborted(signal), finishing]);
            yield { text: ' there', end };
          } finally {
            ended++;
          }
        },
      },
      'tiny-embed': { embed: (_, signal) => untilAborted(signal) },
    },
    { queue: 0 },
  );
  const servers = new MemoryModelServer(() => new Promise(() => undefined));

  beforeAll(async () => {
    app = await TestApp.start({
      env: { SERVICE_MAX_ACCOUNTS: '30' },
      adapt: (container) => {
        receivesMail(container);
        container.rebind(ChatRuntimes).toConstantValue(runtimes);
        container.rebind(ModelServer).toConstantValue(servers);
      },
    });
    admin = await register(app, 'Ada');
    project = await readyProject(app, admin.token);
  });
  afterAll(() => app.stop());
  beforeEach(() => {
    ended = 0;
    finishing = new Promise((resolve) => (finish = resolve));
  });
  afterEach(() => finish());

  type Account = Member & { readonly email: string };
  async function account(): Promise<Account> {
    const name = `Account${++accounts}`;
    return { ...(await register(app, name)), email: `${name.toLowerCase()}@example.com` };
  }

  /** Opens a stream that becomes a conversation. Resolves when the model has begun. Returns the rest of its text. */
  async function opened(token: string) {
    const headers = {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      'X-Conversation-Id': 'new',
    };
    const sent = request(app.url + streams, { method: 'POST', headers });
    sent.end(JSON.stringify(ask(project, 'Hi', { stream: true })));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return { text: textOf(response) };
  }
  /** Parses the data of the last event. */
  const lastEvent = (text: string) => {
    const data = text.trimEnd().split('\n\n').at(-1)?.slice('data: '.length) as string;
    return data === '[DONE]' ? data : JSON.parse(data);
  };
  const newest = async (kind: string) => (await app.get(`/v1/jobs?kind=${kind}&limit=1`, admin.token)).body.jobs[0];
  const done = async (answer: Promise<{ status: number }>) => expect(await answer).toMatchObject({ status: 200 });
  const removeKey = async ({ token }: Member) => {
    const { keys } = (await app.get('/v1/keys', token)).body;
    await done(app.delete(`/v1/keys/${keys[0].id}`, token));
  };
  const demote = ({ id }: Member) =>
    done(app.call('PATCH', `/v1/auth/users/${id}/role`, { token: admin.token, json: { role: 'member' } }));
  const cancelled = (by: Member, code: string) => ({
    requested_by: by.id,
    status: 'cancelled',
    error: expect.stringMatching(`^${code}: `),
  });

  const losses: [string, 'apiKey' | 'token', (by: Account) => Promise<unknown>][] = [
    ['its key is deleted', 'apiKey', removeKey],
    [
      'its key expires',
      'apiKey',
      ({ id }) => {
        const sql = 'UPDATE credentials SET expires_at = $2 WHERE account_id = $1';
        return app.source.query(sql, [id, app.clock.now()]);
      },
    ],
    ['it logs out', 'token', ({ token }) => done(app.post('/v1/auth/logout', token))],
    [
      'its session is ended',
      'token',
      async ({ token }) => {
        const { sessions } = (await app.get('/v1/auth/sessions', token)).body;
        await done(app.delete(`/v1/auth/sessions/${sessions[0].id}`, token));
      },
    ],
    [
      'all its credentials are revoked',
      'apiKey',
      ({ email }) => app.container.get(SessionService).revokeAll(Actor.commandLine, { email, keys: true }),
    ],
    [
      'its password is changed',
      'apiKey',
      ({ token }) => {
        const json = { password: 'yet another horse', current_password: password };
        return done(app.call('PATCH', '/v1/auth/me', { token, json }));
      },
    ],
    [
      'its password is reset',
      'token',
      async ({ email }) => {
        await done(app.post('/v1/auth/password/forgot', undefined, { email }));
        const token = await tokenMailedTo(app, email, 'tnr');
        await done(app.post('/v1/auth/password/reset', undefined, { token, password: 'yet another horse' }));
      },
    ],
    ['it is removed', 'apiKey', ({ id }) => done(app.delete(`/v1/auth/users/${id}`, admin.token))],
  ];

  it('ends within two seconds if it is a stream; streams of others go on', async () => {
    const demoted = await account();
    await app.setAccount(demoted.id, { role: 'developer' });
    const others = [await opened(admin.apiKey), await opened(demoted.apiKey)];
    await demote(demoted); // a member may chat, too
    for (const [what, credential, lose] of losses) {
      const by = await account();
      const { text } = await opened(by[credential]);
      await lose(by);
      const inTime = await within(MOST_MS, () => text);
      expect({ what, inTime }).toEqual({ what, inTime: true });
      const error = { message: expect.any(String), type: 'authentication_error', param: null, code: 'unauthenticated' };
      expect(lastEvent(await text)).toEqual({ error });
      const job = await newest('chat');
      expect(job).toMatchObject(cancelled(by, 'unauthenticated'));
      const { usage } = (await app.store.jobs.find(job.id)) as Job;
      expect(usage).toMatchObject({ firstToken: 0, failure: null });
    }
    expect(ended).toBe(losses.length);
    expect(await app.source.query('SELECT FROM conversations')).toEqual([]);
    finish();
    for (const { text } of others) expect(lastEvent(await text)).toBe('[DONE]');
    expect(await app.source.query('SELECT FROM conversations')).toHaveLength(others.length);
  });

  it('ends also if it is a whole chat, an embedding or a prediction, and makes room for others', async () => {
    const { body } = await app.post('/v1/deployments', admin.token, { name: 'iris', model_path: 'iris.onnx' });
    const embedder = await readyProject(app, admin.token, { runtime: 'onnx', path: 'tiny-embed' });
    const calls = {
      chat: (token: string) => app.post(completions(project), token, ask(project, 'Hi')),
      embedding: (token: string) => app.post('/openai/v1/embeddings', token, { model: embedder, input: 'Hi' }),
      prediction: (token: string) => app.post(`/v1/deployments/${body.id}/predict`, token, { inputs: {} }),
    };
    for (const [kind, call] of Object.entries(calls)) {
      const by = await account();
      const answer = call(by.apiKey);
      await until('the model works', async () => (await newest(kind))?.requested_by === by.id);
      await removeKey(by);
      expect(await within(MOST_MS, () => answer)).toBe(true);
      expect(statusAndCode(await answer)).toBe('401 unauthenticated');
      expect(await newest(kind)).toMatchObject(cancelled(by, 'unauthenticated'));
    }
    const figures = [...runtimes.figures()].filter(([id]) => [project, embedder].includes(RuntimeId.parts(id).project));
    expect(figures).toHaveLength(2);
    for (const [, one] of figures) expect(one).toMatchObject({ running: 0, waiting: 0 });
  });

  it('ends with 403 if only the role is lost', async () => {
    const by = await account();
    await app.setAccount(by.id, { role: 'developer', emailVerifiedAt: app.clock.now() });
    const start = jest.spyOn(servers, 'start').mockImplementationOnce((_id, _model, signal) => untilAborted(signal));
    const answer = app.post('/v1/deployments', by.apiKey, { name: 'slow', model_path: 'slow.onnx' });
    await until('the start has begun', () => start.mock.calls.length > 0);
    await demote(by);
    expect(await within(MOST_MS, () => answer)).toBe(true);
    expect(statusAndCode(await answer)).toBe('403 forbidden');
  });

  it('is found by one statement for all calls, and a failure of this statement ends no call', async () => {
    const check = jest.spyOn(app.store.credentials, 'holdersById').mockRejectedValue(new StorageUnavailable());
    const opening = [await opened(admin.apiKey), await opened(admin.token), await opened(admin.token)];
    // The key and the session.
    await until('a check of all calls has failed', () => check.mock.calls.at(-1)?.[0].length === 2);
    expect(app.logger.lines.filter(({ event }) => event.includes('could not be checked'))).toHaveLength(1);
    expect(ended).toBe(0);
    check.mockRestore();
    const by = await account();
    const { text } = await opened(by.apiKey);
    await removeKey(by);
    expect(lastEvent(await text)).toMatchObject({ error: { code: 'unauthenticated' } });
    finish();
    for (const { text } of opening) expect(lastEvent(await text)).toBe('[DONE]');
  });
});

describe('CallWatch', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('asks once a second while a call runs for longer than a second, and otherwise never', async () => {
    const lost = jest.fn(async () => []);
    const watch = new CallWatch({ lost } as unknown as Authority, new RecordingLog());
    const begin = () => watch.begin({} as Act, new AbortController());
    for (let n = 0; n < 3; n++) {
      const end = begin();
      await jest.advanceTimersByTimeAsync(999);
      end();
    }
    expect(lost).not.toHaveBeenCalled();
    const ends = [begin(), begin(), begin()];
    await jest.advanceTimersByTimeAsync(3_500);
    expect(lost).toHaveBeenCalledTimes(3);
    for (const end of ends) end();
    await jest.advanceTimersByTimeAsync(5_000);
    expect(lost).toHaveBeenCalledTimes(3);
  });
});
