import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { CALL_REMOVAL, CallRemoval } from '../../src/application/record/call-removal.js';
import type { Account } from '../../src/domain/accounts/account.js';
import type { KeptCall } from '../../src/domain/record/kept-call.js';
import type { Project } from '../../src/domain/workspace/project.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { query } from '../support/database.js';
import { aCallOf, keep } from '../support/kept-calls.js';
import { at, ids } from '../support/records.js';
import { ask, completions, createProject, type Member, readyProject } from '../support/workspace.js';
import { invalid, notFound, refusal } from './support/refusals.js';
import { runTasks } from './support/run-tasks.js';
import { TestApp } from './support/test-app.js';

const masterKey = 'master-key-of-the-tests';
const UUID = '0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11';
const UNKNOWN = `job_${UUID}`;
const [modelId, keyId] = [`mdl_${UUID}`, `key_${UUID}`];

let app: TestApp;
let admin: Member;
let developer: Member;
let member: Member;
let stranger: Member;
let project: Project;

beforeAll(async () => {
  ({ app, admin, developer, member, stranger } = await TestApp.withTeam({
    env: { SERVICE_MASTER_KEY: masterKey },
    adapt: (container) => {
      const runtimes = new MemoryChatRuntimes({ 'tiny-chat': { answer: async () => 'Paris' } });
      container.rebind(ChatRuntimes).toConstantValue(runtimes);
    },
  }));
  await app.verifyEmails();
});
afterAll(() => app.stop());
beforeEach(async () => {
  project = await newProject();
});

const account = async ({ id }: Member) => (await app.store.accounts.byId(id)) as Account;
const newProject = async () => {
  const id = await createProject(app, admin.token);
  return (await app.store.projects.find((await account(admin)).teamId, id)) as Project;
};
const add = async (by = admin, over: Partial<KeptCall> = {}, of = project): Promise<KeptCall> => {
  const call = aCallOf(of, await account(by), { modelId: null, ...over });
  await keep(app.store, call);
  return call;
};
const saying = (content: string, over: Partial<KeptCall> = {}, by = admin) =>
  add(by, {
    content: 'full',
    request: { messages: [{ role: 'user', content }] },
    answer: { content: 'Paris' },
    ...over,
  });
const path = (rest = '', of = project) => `/v1/projects/${of.id}/calls${rest}`;
const list = (rest = '', token = admin.token) => app.get(path(rest), token);
const listed = async (rest = '', token = admin.token): Promise<string[]> => {
  const { status, body } = await list(rest, token);
  expect({ status, count: body.count }).toEqual({ status: 200, count: body.calls.length });
  return body.calls.map(({ id }: { id: string }) => id);
};
const remove = (id: string, token = admin.token) => app.delete(path(`/${id}`), token);
const say = (call: KeptCall, over: { score?: number; label?: string } = {}) =>
  app.store.feedback.add({
    ...{ id: ids.next('fbk'), callId: call.id, projectId: call.projectId, accountId: admin.id, keyId: null },
    ...{ score: null, label: null, comment: 'Yes', correction: null, createdAt: at(5), isCurrent: true },
    ...over,
  });

describe('the calls of a project', () => {
  it('are those that it keeps, read by the id of the job or of the answer', async () => {
    const id = await readyProject(app, admin.token);
    const kept = (await app.store.projects.find((await account(admin)).teamId, id)) as Project;
    const spec = { record: { content: 'full' } };
    expect((await app.put(`/v1/projects/${id}`, admin.token, { version: 1, name: 'Kept', spec })).status).toBe(200);
    const { body } = await app.post(completions(id), member.token, ask(id, 'What is the capital of France?'));
    const { calls, next_cursor } = (await app.get(path('', kept), admin.token)).body;
    expect([calls.length, next_cursor]).toEqual([1, null]);
    const messages = [{ role: 'user', content: 'What is the capital of France?' }];
    expect(calls[0]).toMatchObject({
      ...{ answer_id: body.id, project_id: id, kind: 'chat', status: 'succeeded', failure: null, content: 'full' },
      ...{ account_id: member.id, key_id: null, truncated: false, feedback: [], currency: 'USD' },
      request: { messages },
      answer: { role: 'assistant', content: 'Paris', finish_reason: 'stop' },
      usage: { tokens_in: expect.any(Number), tokens_out: expect.any(Number), time_to_first_token: null },
      attempts: [{ model_id: calls[0].model_id, outcome: 'answered', ms: expect.any(Number) }],
    });
    for (const name of [calls[0].id, body.id]) {
      const read = await app.get(path(`/${name}`, kept), admin.token);
      expect({ status: read.status, body: read.body }).toEqual({ status: 200, body: calls[0] });
    }
  });

  it('are listed in pages, the newest first, whose cursors survive a deletion', async () => {
    const all: string[] = [];
    for (let second = 0; second < 5; second++) all.unshift((await add(admin, { createdAt: at(second) })).id);
    expect(await listed()).toEqual(all);
    const first = (await list('?limit=2')).body;
    expect(first.calls.map(({ id }: { id: string }) => id)).toEqual(all.slice(0, 2));
    await remove(all[1] as string);
    const second = (await list(`?limit=2&cursor=${first.next_cursor}`)).body;
    expect(second.calls.map(({ id }: { id: string }) => id)).toEqual(all.slice(2, 4));
    const last = (await list(`?limit=2&cursor=${second.next_cursor}`)).body;
    expect([last.count, last.next_cursor]).toEqual([1, null]);
    for (const bad of ['limit=0', 'cursor=x', `cursor=${UNKNOWN}`, `cursor=1.${UNKNOWN}0`])
      expect(await list(`?${bad}`)).toMatchObject(invalid(bad.slice(0, bad.indexOf('='))));
    expect((await list(`?cursor=99999999999999.${UNKNOWN}`)).body.count).toBe(4);
  });

  it('that are deleted while a page is read do not end the list or an export', async () => {
    const all: string[] = [];
    for (let second = 0; second < 150; second++) all.unshift((await add(admin, { createdAt: at(second) })).id);
    const read = app.store.keptCalls.read.bind(app.store.keptCalls);
    const deleting = async (some: readonly string[]) => {
      await Promise.all(some.map((id) => app.store.keptCalls.remove(id)));
      return read(some);
    };
    jest.spyOn(app.store.keptCalls, 'read').mockImplementationOnce(deleting);
    const { body } = await list('?limit=2');
    expect(body.calls).toEqual([]);
    const next = (await list(`?limit=2&cursor=${body.next_cursor}`)).body;
    expect(next.calls.map(({ id }: { id: string }) => id)).toEqual(all.slice(2, 4));
    jest.spyOn(app.store.keptCalls, 'read').mockImplementationOnce(deleting);
    const lines = (await app.get(path('/export'), admin.token)).body.trim().split('\n');
    expect(lines.map((line: string) => JSON.parse(line).id)).toEqual(all.slice(102));
  });

  it('show the feedback that counts in lists, and all of it one by one', async () => {
    const call = await add();
    for (const label of ['first', 'second']) await say(call, { label });
    const labels = ({ feedback }: { feedback: { label: string }[] }) => feedback.map(({ label }) => label);
    expect(labels((await list()).body.calls[0])).toEqual(['second']);
    const exported = (await app.get(path('/export'), admin.token)).body;
    expect(labels(JSON.parse(exported))).toEqual(['second']);
    expect(labels((await app.get(path(`/${call.id}`), admin.token)).body).sort()).toEqual(['first', 'second']);
  });

  it('can be filtered and searched', async () => {
    const over = { modelId, keyId, status: 'failed', createdAt: at(100) } as const;
    const wanted = await saying('Where is the Louvre?', over);
    const other = await saying('Who are you?', {}, developer);
    await say(wanted, { score: -0.5, label: 'wrong' });
    const seconds = at(100).getTime() / 1000;
    const selecting = [
      ...[
        `model_id=${modelId}`,
        `key_id=${keyId}`,
        'status=failed',
        'score=-0.5',
        'label=wrong',
        `account_id=${admin.id}`,
      ],
      ...[`since=${seconds}`, 'q=LOUVRE%20paris', `model_id=${modelId}&q=where&score=-0.5&until=${seconds + 1}`],
    ];
    for (const one of selecting) expect([one, await listed(`?${one}`)]).toEqual([one, [wanted.id]]);
    for (const one of [`until=${seconds}`, `account_id=${developer.id}`, 'q=who', 'status=succeeded'])
      expect([one, await listed(`?${one}`)]).toEqual([one, [other.id]]);
    for (const one of [
      'score=0.5',
      'q=lou',
      'label=wron',
      'status=cancelled',
      `model_id=mdl_${UUID.replace('0', '1')}`,
      'q=%F0%9F%A6%86',
    ])
      expect([one, await listed(`?${one}`)]).toEqual([one, []]);
    const { body } = await list('?score=-0.5');
    const said = { account_id: admin.id, score: -0.5, label: 'wrong', comment: 'Yes', is_current: true };
    expect(body.calls[0].feedback).toMatchObject([said]);
    const usage = { tokens_in: null, tokens_out: null, time_to_first_token: null };
    expect(body.calls[0]).toMatchObject({ status: 'failed', key_id: keyId, usage, attempts: [] });
    const wrong = ['since=-1', 'since=', 'until=x', 'until=', 'score=2', 'score=', 'score=%20', 'score=0x1'];
    const wrongIds = ['model_id=%27', 'key_id=', `account_id=${modelId}`];
    for (const bad of [...wrong, ...wrongIds, 'status=running', 'q=', 'label='])
      expect([bad, await list(`?${bad}`)]).toMatchObject([bad, invalid(bad.slice(0, bad.indexOf('=')))]);
  });

  it('are for members only their own, and for admins and developers all', async () => {
    const [own, others] = [await saying('mine', {}, member), await saying('not mine')];
    for (const { token } of [admin, developer]) expect(await listed('', token)).toHaveLength(2);
    for (const filters of ['', `?account_id=${member.id}`, '?q=mine'])
      expect(await listed(filters, member.token)).toEqual([own.id]);
    for (const filters of [`?account_id=${admin.id}`, '?q=not'])
      expect(await listed(filters, member.token)).toEqual([]);
    const lines = (await app.get(path('/export'), member.token)).body.trim().split('\n');
    expect(lines.map((line: string) => JSON.parse(line).id)).toEqual([own.id]);
    expect((await app.get(path(`/export?account_id=${admin.id}`), member.token)).body).toBe('');
    for (const name of [others.id, others.answerId as string, UNKNOWN, 'x']) {
      expect(await app.get(path(`/${name}`), member.token)).toMatchObject(notFound);
      expect(await remove(name, member.token)).toMatchObject(notFound);
    }
    expect((await app.get(path(`/${own.id}`), member.token)).status).toBe(200);
    expect((await remove(own.answerId as string, member.token)).body).toEqual({ id: own.id, deleted: true });
    expect(await listed('', developer.token)).toEqual([others.id]);
    expect((await remove(others.id, developer.token)).status).toBe(200);
    expect(await remove(others.id, developer.token)).toMatchObject(notFound);
  });

  it('are hidden from other teams, from the master key and at another project', async () => {
    const call = await add();
    const elsewhere = await newProject();
    const one = path(`/${call.id}`);
    const calls = [
      ...[path(), one, path('/export')].map((at) => (token: string) => app.get(at, token)),
      (token: string) => app.delete(one, token),
    ];
    for (const request of calls) {
      expect(await request(stranger.token)).toMatchObject(notFound);
      expect(await request(masterKey)).toMatchObject(refusal(401, 'session_required'));
    }
    expect(await app.get(path(`/${call.id}`, elsewhere), admin.token)).toMatchObject(notFound);
    expect((await app.get(path('', elsewhere), admin.token)).body.count).toBe(0);
    expect(await listed()).toEqual([call.id]);
  });

  it('are read by keys with the permission read, and deleted by those with write', async () => {
    const call = await add();
    const keyFor = async (about: object) => (await app.post('/v1/keys', admin.token, about)).body.key;
    const elsewhere = await newProject();
    const [reading, writing] = [await keyFor({ permissions: ['read'] }), await keyFor({ permissions: ['write'] })];
    const foreign = await keyFor({ permissions: ['read', 'write'], projects: [elsewhere.id] });
    const restricted = refusal(403, 'key_restricted');
    expect(await list('', admin.apiKey)).toMatchObject(refusal(401, 'session_required'));
    expect((await app.get(path(`/${call.id}`), reading)).status).toBe(200);
    expect(await remove(call.id, reading)).toMatchObject(restricted);
    for (const at of ['', '/export', `/${call.id}`]) expect(await app.get(path(at), foreign)).toMatchObject(restricted);
    expect(await remove(call.id, foreign)).toMatchObject(restricted);
    expect((await remove(call.id, writing)).status).toBe(200);
  });

  it('shorten a page if they are long', async () => {
    const long = { messages: [{ role: 'user', content: 'x'.repeat(250_000) }] };
    for (let n = 0; n < 20; n++) await add(admin, { content: 'full', request: long });
    const { calls, next_cursor } = (await list('?limit=20')).body;
    expect(calls.length).toBeLessThan(20);
    const rest = (await list(`?limit=20&cursor=${next_cursor}`)).body;
    expect(calls.length + rest.count).toBe(20);
    const lines = (await app.get(path('/export'), admin.token)).body.trim().split('\n');
    expect(new Set(lines.map((line: string) => JSON.parse(line).id)).size).toBe(20);
  });
});

describe('an export of calls', () => {
  it('has the objects of the list as JSON Lines, with the same filters', async () => {
    for (let n = 0; n < 250; n++) await add(admin, { createdAt: at(n % 7), status: n % 5 ? 'succeeded' : 'failed' });
    for (const filters of ['', '&status=failed']) {
      const { headers, body } = await app.get(path(`/export?format=jsonl${filters}`), admin.token);
      expect(headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
      expect(headers.get('content-disposition')).toBe(`attachment; filename="calls-${project.id}.jsonl"`);
      const lines = body
        .trim()
        .split('\n')
        .map((line: string) => JSON.parse(line));
      expect(lines).toEqual((await list(`?limit=1000${filters}`)).body.calls);
    }
    expect(await app.get(path('/export?format=xls'), admin.token)).toMatchObject(invalid('format'));
  });

  it('is a CSV file with harmless cells', async () => {
    const attempts = [{ modelId, outcome: 'answered', ms: 7 }];
    const usage = { keyId: null, tokensIn: 1, tokensOut: 2, firstToken: null, failure: null, attempts };
    const call = await saying('=1+1, "yes"', { answerId: '=cmd', createdAt: at(1), cost: '0.000123400', usage });
    await say(call, { score: 1 });
    const [listed] = (await list()).body.calls;
    const { body } = await app.get(path('/export?format=csv'), admin.token);
    const [head, row] = body.split('\r\n');
    expect(head).toBe(
      'id,answer_id,project_id,kind,status,failure,model_id,account_id,key_id,created_at,started_at,finished_at,duration,' +
        'content,request,answer,truncated,tokens_in,tokens_out,time_to_first_token,cost,currency,expires_at,' +
        'attempts,feedback',
    );
    expect(row.startsWith(`${call.id},'=cmd,${project.id},chat,succeeded,,,${admin.id},,`)).toBe(true);
    expect(row).toContain(`full,"${JSON.stringify(call.request).replaceAll('"', '""')}",`);
    expect(row).toContain(',0.000123400,USD,');
    const cells = [listed.attempts, listed.feedback].map((one) => `"${JSON.stringify(one).replaceAll('"', '""')}"`);
    expect(row.endsWith(`,${cells.join(',')}`)).toBe(true);
    expect([listed.attempts.length, listed.feedback.length]).toEqual([1, 1]);
  });

  it('ends when its caller does not see the calls of others any more', async () => {
    for (let n = 0; n < 150; n++) await add(admin, { createdAt: at(n) });
    const read = app.store.keptCalls.read.bind(app.store.keptCalls);
    jest.spyOn(app.store.keptCalls, 'read').mockImplementationOnce(async (some) => {
      await app.setAccount(developer.id, { role: 'member' });
      return read(some);
    });
    const file = app.get(path('/export'), developer.token);
    await expect(file).rejects.toThrow();
    await app.setAccount(developer.id, { role: 'developer' });
    expect((await app.get(path('/export'), developer.token)).body.trim().split('\n')).toHaveLength(150);
  });
});

describe('the deletion of a project or an account', () => {
  const deletion = (version: number) =>
    app.call('DELETE', `/v1/projects/${project.id}`, { token: admin.token, headers: { 'If-Match': `"${version}"` } });

  it('deletes their calls with all feedback, as a task', async () => {
    const other = await newProject();
    const calls = [await add(member), await add(), await add(member, {}, other), await add(admin, {}, other)];
    for (const call of calls) await say(call, { score: 1 });
    const left = async () => {
      await runTasks(app, { [CALL_REMOVAL]: app.container.get(CallRemoval) });
      const all = calls.map(({ id }) => id);
      const found = await query<{ id: string }>(app.database.url, 'SELECT id FROM calls WHERE id = ANY ($1)', [all]);
      const of = (await app.store.feedback.ofCalls(all)).map(({ callId }) => callId).sort();
      expect(of).toEqual(found.map(({ id }) => id).sort());
      return of;
    };
    const idsFrom = (at: number) =>
      calls
        .slice(at)
        .map(({ id }) => id)
        .sort();
    expect((await deletion(1)).status).toBe(200);
    expect(await left()).toEqual(idsFrom(2));
    expect((await app.delete(`/v1/auth/users/${member.id}`, admin.token)).status).toBe(200);
    const listed = (await app.get(path('', other), admin.token)).body.calls;
    expect(listed.map(({ id }: { id: string }) => id)).toEqual(idsFrom(3));
    expect(await left()).toEqual(idsFrom(3));
  });

  it('that is refused deletes no call', async () => {
    const call = await add();
    expect((await deletion(99)).status).toBe(409);
    expect((await app.delete(`/v1/auth/users/${admin.id}`, admin.token)).status).toBe(409);
    await runTasks(app, { [CALL_REMOVAL]: app.container.get(CallRemoval) });
    expect(await listed()).toEqual([call.id]);
  });
});
