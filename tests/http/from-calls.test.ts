import { ChatRuntimes } from '../../src/application/chat/ports.js';
import type { KeptCall } from '../../src/domain/record/kept-call.js';
import type { JsonObject } from '../../src/domain/workspace/json.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { aKeptCall, answered, asked, keep } from '../support/kept-calls.js';
import { digestOf } from '../support/old-datasets.js';
import { ask, completions, createProject, type Member, readyProject } from '../support/workspace.js';
import { invalid, notFound, refusal } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

describe('records of calls', () => {
  let app: TestApp;
  let admin: Member;
  let member: Member;
  let stranger: Member;
  let project: string;
  let dataset: string;

  beforeAll(async () => {
    ({ app, admin, member, stranger } = await TestApp.withTeam({
      env: { SERVICE_DATASET_RECORDS: '30' },
      adapt: (container) => {
        const answer = async () => 'Paris';
        container.rebind(ChatRuntimes).toConstantValue(new MemoryChatRuntimes({ chat: { answer } }));
      },
    }));
    await app.verifyEmails();
  });
  afterAll(() => app.stop());
  beforeEach(async () => {
    project = await createProject(app, admin.token, { record: { content: 'full' } });
    dataset = (await app.post(`/v1/projects/${project}/datasets`, admin.token, { name: 'Calls', records: [] })).body.id;
  });

  /** Keeps a call in a project, as if it had been made. */
  const kept = async (over: Partial<KeptCall> = {}, { inProject = project, by = admin } = {}) => {
    const account = await app.store.accounts.byId(by.id);
    const found = account && (await app.store.projects.find(account.teamId, inProject));
    if (!found) throw new Error('there is no such project');
    const call = aKeptCall(found, account, over);
    await keep(app.store, call);
    return call;
  };
  const ofMessages = (...messages: JsonObject[]) => kept({ request: asked(messages) });
  const path = () => `/v1/projects/${project}/datasets/${dataset}/records`;
  const append = (body: object, token = admin.token) => app.post(path(), token, body);
  const fromCalls = (calls: readonly object[], token?: string) => append({ from_calls: calls }, token);
  const records = async () => (await app.get(path(), member.token)).body.records;
  const give = (callId: string, correction: unknown, token = member.token) =>
    app.post(`/v1/calls/${callId}/feedback`, token, { correction });

  it('have the question and the answer of a chat, and say where they come from', async () => {
    const ready = await readyProject(app, admin.token, { runtime: 'onnx', path: 'chat' });
    await app.put(`/v1/projects/${ready}`, admin.token, { version: 1, spec: { record: { content: 'full' } } });
    const { body } = await app.post(completions(ready), member.token, ask(ready, 'France?'));
    const { jobs } = (await app.get(`/v1/jobs?kind=chat&project_id=${ready}`, admin.token)).body;
    const [{ id: jobId, model_id, created_at }] = jobs;
    project = ready;
    dataset = (await app.post(`/v1/projects/${ready}/datasets`, admin.token, { name: 'Calls', records: [] })).body.id;
    const added = await fromCalls([{ call_id: body.id }]);
    expect(added).toMatchObject({ status: 201, body: { added: [jobId], duplicates: 0, record_count: 1, version: 2 } });
    const record = { id: jobId, group: null, input: 'France?', expected: 'Paris', fields: {} };
    expect(await records()).toEqual([{ ...record, origin: { call_id: jobId, model_id, at: created_at } }]);
    const whole = (await app.get(`/v1/projects/${ready}/datasets/${dataset}`, member.token)).body;
    expect(whole.content_sha256).toBe(digestOf([record]));
  });

  it('have the answer, the newest correction that counts, or nothing as the expected value', async () => {
    const call = await kept();
    const from = (expected?: string) => fromCalls([{ call_id: call.id, ...(expected && { expected }) }]);
    expect(await from('correction')).toMatchObject(invalid('from_calls.0.expected'));
    await give(call.id, 'replaced');
    await give(call.id, { city: 'Paris' }, admin.token);
    await give(call.id, 'Paris, of course');
    expect((await from('answer')).body.added).toEqual([call.id]);
    expect((await from('correction')).body.added).toEqual([`${call.id}-2`]);
    expect((await from('none')).body.added).toEqual([`${call.id}-3`]);
    await give(call.id, ['Paris'], admin.token);
    expect((await from('correction')).body.added).toEqual([`${call.id}-4`]);
    const expected = (await records()).map((one: JsonObject) => one.expected);
    expect(expected).toEqual(['Paris', 'Paris, of course', null, ['Paris']]);
    for (const again of ['answer', 'correction', 'none', undefined])
      expect((await from(again)).body).toMatchObject({ added: [], duplicates: 1, record_count: 4, version: 5 });
  });

  it('are left out if the dataset has their content, under any id', async () => {
    const [one, same, other] = [await kept(), await kept(), await kept({ answer: answered('Lyon') })];
    await append({ records: [{ id: 'own', input: 'France?', expected: 'Lyon' }] });
    const all = [one, same, other].map(({ id }) => ({ call_id: id }));
    expect((await fromCalls([...all, ...all])).body).toMatchObject({ added: [one.id], duplicates: 5, record_count: 2 });
    await append({ records: [{ id: same.id, input: 'taken' }] });
    expect((await fromCalls([{ call_id: same.id, expected: 'none' }])).body.added).toEqual([`${same.id}-2`]);
  });

  it('have the text of a single question, or else the messages', async () => {
    const user = { role: 'user', content: 'And Peru?' };
    const system = { role: 'system', content: 'Be short.' };
    const turns = [{ role: 'user', content: 'France?' }, { role: 'assistant', content: 'Paris' }, user];
    const calls = [
      await ofMessages(user),
      await ofMessages(system, user),
      await ofMessages(...turns),
      await ofMessages(system, ...turns),
      await ofMessages(system),
      await kept({ request: { max_tokens: 9, texts: ['Once upon'] } }),
    ];
    const inputs = async () => {
      const { body } = await fromCalls(calls.map(({ id }) => ({ call_id: id, expected: 'none' })));
      expect(body.added).toHaveLength(calls.length - body.duplicates);
      return (await records()).map((one: JsonObject) => one.input);
    };
    const plain = [user.content, [system, user], turns, [system, ...turns], [system], 'Once upon'];
    expect(await inputs()).toEqual(plain);
    const { version } = (await app.get(`/v1/projects/${project}`, admin.token)).body;
    await app.put(`/v1/projects/${project}`, admin.token, { version, spec: { system_prompt: 'Be kind.' } });
    dataset = (await app.post(`/v1/projects/${project}/datasets`, admin.token, { name: 'More', records: [] })).body.id;
    expect(await inputs()).toEqual([user.content, turns, [system], 'Once upon']);
  });

  it('have the text of an answer, or its calls of tools', async () => {
    const tool_calls = [{ id: 'call_1', name: 'find', arguments: '{"a":1}' }];
    const answers = [
      answered('{"a":1}', { others: [answered('other')] }),
      answered('', { tool_calls }),
      answered('I look.', { tool_calls }),
    ];
    const calls: object[] = [];
    for (const answer of answers) calls.push({ call_id: (await kept({ answer })).id });
    await fromCalls(calls);
    const expected = (await records()).map((one: JsonObject) => one.expected);
    expect(expected).toEqual(['{"a":1}', { role: 'assistant', content: '', tool_calls }, 'I look.']);
  });

  it('are refused with each call that makes none', async () => {
    const image: JsonObject = { role: 'user', content: [{ text: 'What is it?' }, { image: 'not kept' }] };
    const ofTeam = await createProject(app, admin.token);
    const ofStranger = await createProject(app, stranger.token);
    const none = { request: null, answer: null } as const;
    const calls: [field: string, call: KeptCall | string, expected?: string][] = [
      ['call_id', await kept({ content: 'none', ...none })],
      ['call_id', await kept({ content: 'unmaskable', ...none })],
      ['call_id', await kept({ truncated: true })],
      ['call_id', await kept({ kind: 'embedding', request: { texts: ['France?'] }, answer: null })],
      ['call_id', await ofMessages(image)],
      ['call_id', await kept({ request: { texts: ['one', 'two'] } })],
      ['call_id', await kept({ expiresAt: app.clock.now() })],
      ['call_id', await kept({}, { inProject: ofTeam })],
      ['call_id', await kept({}, { inProject: ofStranger, by: stranger })],
      ['call_id', 'job_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11'],
      ['call_id', 'no id'],
      ['expected', await kept({ status: 'failed' })],
      ['expected', await kept({ status: 'cancelled', answer: answered('Par') })],
      ['expected', await kept({ answer: null })],
      ['expected', await kept(), 'correction'],
    ];
    const sent = calls.map(([, call, expected]) => ({ call_id: typeof call === 'string' ? call : call.id, expected }));
    const answer = await fromCalls([{ call_id: (await kept()).id }, ...sent]);
    expect(answer).toMatchObject(invalid(...calls.map(([field], index) => `from_calls.${index + 1}.${field}`)));
    expect(await records()).toEqual([]);
    const failed = sent.slice(-4, -1).map((one) => ({ ...one, expected: 'none' }));
    expect((await fromCalls(failed)).body).toMatchObject({ duplicates: 2, record_count: 1 });
    const many = await fromCalls(Array.from({ length: 30 }, () => ({ call_id: 'job_1' })));
    expect(many.body.details).toHaveLength(30);
  });

  it('are refused beside other records, for members, for other teams, and if they are too many', async () => {
    const call_id = (await kept()).id;
    for (const body of [{}, { version: 1 }, { records: [], from_calls: [] }])
      expect(await append(body)).toMatchObject(invalid('records'));
    const wrong: [unknown, string][] = [
      ['all', 'from_calls'],
      [[call_id], 'from_calls.0'],
      [[{}], 'from_calls.0.call_id'],
      [[{ call_id, expected: 'question' }], 'from_calls.0.expected'],
      [Array.from({ length: 31 }, () => ({ call_id })), 'from_calls'],
    ];
    for (const [from_calls, field] of wrong) expect(await append({ from_calls })).toMatchObject(invalid(field));
    expect(await fromCalls([{ call_id }], member.token)).toMatchObject(refusal(403, 'forbidden'));
    expect(await fromCalls([{ call_id }], stranger.token)).toMatchObject(notFound);
    const key = async (restrictions: object) => (await app.post('/v1/keys', admin.token, restrictions)).body.key;
    const write = await key({ permissions: ['write'], projects: [project] });
    expect((await fromCalls([{ call_id }], write)).body.added).toEqual([call_id]);
    const elsewhere = await key({ permissions: ['write'], projects: [await createProject(app, admin.token)] });
    for (const token of [elsewhere, await key({ permissions: ['chat'] })])
      expect(await fromCalls([{ call_id }], token)).toMatchObject(refusal(403, 'key_restricted'));
    expect(await append({ version: 1, from_calls: [{ call_id }] })).toMatchObject(refusal(409, 'stale_version'));
    expect((await fromCalls([])).body).toMatchObject({ added: [], duplicates: 0 });
  });

  it('keep their origin through changes, copies and files; it is no content', async () => {
    const datasets = `/v1/projects/${project}/datasets`;
    const origin = { job_id: 'job_1', record_id: 'fr', model_id: 'mdl_1', at: 1763683200.5 };
    const content = { id: 'a', group: null, input: 'France?', expected: 'Paris', fields: { origin: 'atlas' } };
    const { body } = await app.post(datasets, admin.token, { name: 'Rows', records: [{ ...content, origin }] });
    expect(body.records).toEqual([{ ...content, origin }]);
    expect(body.content_sha256).toBe(digestOf([content]));
    const at = `${datasets}/${body.id}`;
    const sent = [
      { id: 'b', input: 'France?', expected: 'Paris', fields: content.fields, origin: { call_id: 'chatcmpl-1' } },
    ];
    expect((await app.post(`${at}/records`, admin.token, { records: sent })).body).toMatchObject({ duplicates: 1 });
    const patch = { token: admin.token, json: { version: 1, expected: 'Paris!' } };
    expect((await app.call('PATCH', `${at}/records/a`, patch)).body).toMatchObject({ expected: 'Paris!', origin });
    const changed = { ...content, expected: 'Paris!', origin };
    const read = (await app.get(at, admin.token)).body.records;
    expect(read).toEqual([changed]);
    const put = (await app.put(at, admin.token, { version: 2, records: [...read, { id: 'c', input: 1 }] })).body;
    expect(put.records).toEqual([changed, { id: 'c', group: null, input: 1, expected: null, fields: {} }]);
    const fork = (await app.post(`${at}/fork`, admin.token, {})).body;
    expect(fork.records[0]).toEqual(changed);
    const file = (await app.get(`${at}/export`, admin.token)).body;
    const headers = { 'Content-Type': 'application/x-ndjson' };
    const imported = await app.call('POST', datasets, { token: admin.token, raw: file, headers });
    expect(imported.body.records).toEqual(put.records);
    expect((await app.get(`${at}/export?format=csv`, admin.token)).body).not.toContain('job_1');
  });

  it('take only an origin of the known form; others are fields', async () => {
    const others = [
      ...[null, 'atlas', [], {}, { call_id: '' }, { call_id: 1 }, { record_id: 'r' }, { call_id: 'c', at: '1' }],
      ...[{ call_id: 'c', at: -1 }, { call_id: 'c', other: 'x' }, { job_id: 'x'.repeat(201) }],
    ];
    await append({ records: others.map((origin, n) => ({ id: `r${n}`, input: n, origin })) });
    const all: JsonObject[] = await records();
    expect(all.map(({ fields, origin }) => [fields, origin])).toEqual(others.map((origin) => [{ origin }, undefined]));
    const unstorable = [{ input: 1, origin: { call_id: '\0' } }];
    expect(await append({ records: unstorable })).toMatchObject(invalid('records.0.origin'));
  });
});
