import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { query } from '../support/database.js';
import { Service } from '../support/service.js';
import {
  ask,
  completions,
  createProject,
  type Member,
  moveToOwnTeam,
  readyProject,
  register,
} from '../support/workspace.js';

const HEADER = 'X-Conversation-Id';
const UNKNOWN = 'cnv_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11';
const question = 'What is the capital of France?';
const answer = 'The capital of France is Paris.';
const turn = [
  { role: 'user', content: question },
  { role: 'assistant', content: answer },
];

describe('conversations', () => {
  let service: Service;
  let admin: Member;
  let developer: Member;
  let member: Member;
  let stranger: Member;
  let project: string;
  let bare: string;

  beforeAll(async () => {
    service = await Service.start({ env: { SERVICE_MAX_ACCOUNTS: '10' } });
    admin = await register(service, 'Ada');
    developer = await register(service, 'Dev');
    member = await register(service, 'Mia');
    stranger = await register(service, 'Eve');
    await sql(`UPDATE accounts SET role = 'developer' WHERE id = $1`, [developer.id]);
    await moveToOwnTeam(service.databaseUrl as string, stranger.id);
    project = await readyProject(service, admin.token);
    bare = await createProject(service, admin.token);
  });
  afterAll(() => service.stop());
  beforeEach(() => sql('DELETE FROM conversations'));

  const sql = <Row extends object>(text: string, values: unknown[] = []) =>
    query<Row>(service.databaseUrl as string, text, values);
  const at = (rest = '', of = project) => `/v1/projects/${of}/conversations${rest}`;
  const chat = (kept: string | null, { token = admin.token, of = project, json = ask(of, question) as object } = {}) =>
    service.call('POST', completions(of), { token, json, headers: kept === null ? {} : { [HEADER]: kept } });
  const begun = async (token = admin.token): Promise<string> => {
    const { status, headers } = await chat('new', { token });
    expect(status).toBe(200);
    return headers.get(HEADER) as string;
  };
  const read = async (id: string, token = admin.token) => (await service.get(at(`/${id}`), token)).body;
  const listed = async (token = admin.token, rest = '') => (await service.get(at(rest), token)).body;
  const rows = async (table: string) => Number((await sql<{ n: string }>(`SELECT count(*) n FROM ${table}`))[0]?.n);

  it('store nothing, and have no header, unless they are asked for', async () => {
    const { status, headers } = await chat(null);
    expect(status).toBe(200);
    expect(headers.has(HEADER)).toBe(false);
    expect(await listed()).toEqual({ conversations: [], count: 0, next_cursor: null });
    expect(await rows('conversation_messages')).toBe(0);
  });

  it('begin with all that was said, and go on by a question and its answer, by session or key', async () => {
    const before = [
      { role: 'user', content: 'What is\n 7 + 5?' },
      { role: 'assistant', content: '7 + 5 = 12.' },
    ];
    const messages = [...before, turn[0]];
    const first = await chat('new', { token: admin.apiKey, json: { model: project, messages } });
    expect(first.body.choices[0].message).toEqual(turn[1]);
    const id = first.headers.get(HEADER) as string;
    expect(id).toMatch(/^cnv_[0-9a-f-]{36}$/);

    const more = { role: 'user', content: 'What is 1 + 1?' };
    const second = await chat(id, { json: { model: project, messages: [...messages, turn[1], more] } });
    expect(second.status).toBe(200);
    expect(second.headers.get(HEADER)).toBe(id);
    const said = [...before, ...turn, more, { role: 'assistant', content: second.body.choices[0].message.content }];
    const { messages: kept, ...conversation } = await read(id);
    expect(kept).toEqual(said.map((message) => ({ ...message, created_at: expect.any(Number) })));
    expect(conversation).toEqual({
      id,
      project_id: project,
      title: 'What is 7 + 5?',
      message_count: 6,
      created_at: kept[0].created_at,
      updated_at: kept[5].created_at,
      next_cursor: null,
    });
    const { next_cursor: _, ...item } = conversation;
    expect(await listed()).toEqual({ conversations: [item], count: 1, next_cursor: null });
  });

  it('are each account’s own, whatever its role', async () => {
    const everybody = [admin, developer, member];
    const ids: string[] = [];
    for (const { token } of everybody) ids.push(await begun(token));
    const refused = { status: 404, code: 'not_found', error: expect.any(String) };
    for (const [index, { token }] of everybody.entries()) {
      expect((await listed(token)).conversations.map(({ id }: { id: string }) => id)).toEqual([ids[index]]);
      for (const id of [...ids.filter((_, other) => other !== index), UNKNOWN]) {
        for (const { status, body } of [
          await service.get(at(`/${id}`), token),
          await service.delete(at(`/${id}`), token),
          await chat(id, { token }),
        ]) {
          expect({ status, code: body.code, error: body.error }).toEqual({
            ...refused,
            error: 'There is no such conversation.',
          });
        }
      }
    }
    for (const [method, path] of [
      ['GET', at()],
      ['GET', at(`/${ids[0]}`)],
      ['DELETE', at(`/${ids[0]}`)],
    ] as const) {
      const { status, body } = await service.call(method, path, { token: stranger.token });
      expect({ status, code: body.code, error: body.error }).toEqual({
        ...refused,
        error: 'There is no such project.',
      });
    }
    for (const [index, { token }] of everybody.entries()) {
      const { status, body } = await service.delete(at(`/${ids[index]}`), token);
      expect({ status, body }).toEqual({ status: 200, body: { id: ids[index], deleted: true } });
      expect((await service.get(at(`/${ids[index]}`), token)).status).toBe(404);
    }
    expect(await rows('conversation_messages')).toBe(0);
  });

  it.each([
    '',
    'NEW',
    'new, new',
    'cnv_1',
    `${UNKNOWN}0`,
    UNKNOWN.toUpperCase(),
    UNKNOWN.replace('cnv', 'prj'),
    'null',
  ])('refuse the header "%s", whatever the runtime’s state', async (kept) => {
    for (const projectId of [project, bare]) {
      const { status, body, headers } = await chat(kept, { of: projectId });
      expect({ status, code: body.code }).toEqual({ status: 422, code: 'invalid_request' });
      expect(body.details).toEqual([{ path: HEADER, message: expect.stringContaining('"new"') }]);
      expect(headers.has(HEADER)).toBe(false);
    }
    const elsewhere = await chat(kept, { of: UNKNOWN.replace('cnv', 'prj') });
    expect(elsewhere).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it('are looked for before the request is judged, and before the runtime is asked', async () => {
    const id = await begun();
    const invalid = [{ model: bare }, ask('gpt-4o', question), ask(bare, question, { stream: true })];
    for (const json of [ask(bare, question), ...invalid]) {
      for (const kept of [UNKNOWN, id]) {
        const { status, body } = await chat(kept, { of: bare, json });
        expect({ kept, status, error: body.error }).toEqual({
          kept,
          status: 404,
          error: 'There is no such conversation.',
        });
      }
    }
    for (const json of invalid) {
      expect((await chat('new', { of: bare, json })).status).toBe(422);
      expect((await chat(id, { json: { ...json, model: 'x' } })).status).toBe(422);
    }
    expect((await read(id)).message_count).toBe(2);
  });

  it('keep nothing of a call that is refused', async () => {
    const id = await begun();
    expect(await chat('new', { of: bare })).toMatchObject({ status: 503, body: { code: 'runtime_not_connected' } });
    const tooLong = { json: ask(project, 'blue river '.repeat(200)) };
    for (const kept of ['new', id]) {
      const { status, body, headers } = await chat(kept, tooLong);
      expect({ status, code: body.code }).toEqual({ status: 422, code: 'context_length_exceeded' });
      expect(headers.has(HEADER)).toBe(false);
    }
    expect(await listed()).toMatchObject({ count: 1, conversations: [{ id, message_count: 2 }] });
    expect(await rows('conversations')).toBe(1);
    expect(await rows('conversation_messages')).toBe(2);
  });

  it('are full at 2,000 messages', async () => {
    const id = await begun();
    await sql('UPDATE conversations SET message_count = 1999');
    const { status, body } = await chat(id);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'invalid_request' });
    expect(body.details).toEqual([{ path: HEADER, message: expect.stringMatching(/2000.*"new"/) }]);
    expect((await chat('new')).status).toBe(200);
  });

  it('are at most 1,000 of an account in a project', async () => {
    const id = await begun();
    await sql(
      `INSERT INTO conversations SELECT 'cnv_' || gen_random_uuid(), project_id, account_id, title, 0, created_at, updated_at
         FROM conversations, generate_series(1, 999)`,
    );
    for (const token of [admin.token, admin.apiKey]) {
      const { status, body } = await chat('new', { token });
      expect({ status, code: body.code }).toEqual({ status: 422, code: 'invalid_request' });
      expect(body.details).toEqual([{ path: HEADER, message: expect.stringMatching(/1000.*DELETE/) }]);
    }
    expect((await chat(id)).status).toBe(200);
    expect((await chat('new', { token: member.token })).status).toBe(200);
    await service.delete(at(`/${id}`), admin.token);
    expect((await chat('new')).status).toBe(200);
  });

  it('are gone with their account', async () => {
    const leaver = await register(service, 'Leo');
    await begun(leaver.token);
    const id = await begun();
    expect((await service.delete(`/v1/auth/users/${leaver.id}`, admin.token)).status).toBe(200);
    expect(await sql('SELECT id FROM conversations')).toEqual([{ id }]);
    expect(await rows('conversation_messages')).toBe(2);
  });

  it('leave no word in the log', async () => {
    const id = await begun();
    await chat(id);
    await read(id);
    for (const log of [await readFile(join(service.dataDir, 'tenon.log'), 'utf8'), service.errors]) {
      expect(log).toContain('/chat/completions');
      for (const word of ['capital', 'France', 'Paris']) expect(log).not.toContain(word);
    }
  });
});
