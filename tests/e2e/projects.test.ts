import { query } from '../support/database.js';
import { descendants } from '../support/processes.js';
import { Service } from '../support/service.js';
import {
  ask,
  completions,
  createProject,
  type Member,
  moveToOwnTeam,
  readyProject,
  register,
  registeredModel,
} from '../support/workspace.js';

const projects = '/v1/projects';

describe('projects', () => {
  let service: Service;
  let admin: Member;
  let developer: Member;
  let member: Member;
  let stranger: Member;
  /** Its runtime is ready. */
  let running: string;

  beforeAll(async () => {
    service = await Service.start({ env: { SERVICE_MAX_ACCOUNTS: '10' } });
    admin = await register(service, 'Ada');
    developer = await register(service, 'Dan');
    member = await register(service, 'Mia');
    stranger = await register(service, 'Eve');
    const role = `UPDATE accounts SET role = 'developer' WHERE id = $1`;
    await query(service.databaseUrl as string, role, [developer.id]);
    await moveToOwnTeam(service.databaseUrl as string, stranger.id);
    running = await readyProject(service, admin.token);
  });
  afterAll(() => service.stop());

  const update = (id: string, json: object) => service.put(`${projects}/${id}`, admin.token, json);

  it('are listed, newest first, with their models and runtimes, and no other team’s', async () => {
    const bare = await createProject(service, admin.token, { goal: 'a' });
    const id = await createProject(service, developer.token, { goal: 'b' });
    const model = await registeredModel(service, admin.token, id);
    await service.put(`${projects}/${id}/runtime`, admin.token, { model_id: model });
    const theirs = await createProject(service, stranger.token);
    const { status, body } = await service.get(projects, member.token);
    expect(status).toBe(200);
    expect(body.projects.slice(0, 2)).toEqual([
      (await service.get(`${projects}/${id}`, member.token)).body,
      (await service.get(`${projects}/${bare}`, member.token)).body,
    ]);
    expect(body.projects[0]).toMatchObject({ runtime: { state: 'stopped', model_id: model }, models: [{ id: model }] });
    expect(body.count).toBe(body.projects.length);
    expect(body.next_cursor).toBeNull();
    expect(body.conversations).toEqual([]);
    expect((await service.get(projects, stranger.token)).body.projects.map((one: { id: string }) => one.id)).toEqual([
      theirs,
    ]);
  });

  it('are listed a page at a time where that is asked for', async () => {
    const [first, second] = [await createProject(service, admin.token), await createProject(service, admin.token)];
    const page = (await service.get(`${projects}?limit=1`, admin.token)).body;
    expect(page).toMatchObject({ projects: [{ id: second }], count: 1, next_cursor: second });
    const next = (await service.get(`${projects}?limit=1&cursor=${page.next_cursor}`, admin.token)).body;
    expect(next).toMatchObject({ projects: [{ id: first }], count: 1, next_cursor: first });
    for (const bad of ['limit=0', 'limit=1001', 'limit=x', 'cursor=nonsense']) {
      const { status, body } = await service.get(`${projects}?${bad}`, admin.token);
      expect({ bad, status, code: body.code }).toEqual({ bad, status: 422, code: 'invalid_request' });
    }
  });

  const chat = async ({ apiKey }: Member, conversation: string) => {
    const options = {
      token: apiKey,
      json: ask(running, 'What is 7 + 5?'),
      headers: { 'X-Conversation-Id': conversation },
    };
    return (await service.call('POST', completions(running), options)).headers.get('x-conversation-id') as string;
  };
  const conversations = async ({ token }: Member) => (await service.get(projects, token)).body.conversations;

  it('are listed with the caller’s own conversations, those of the newest turn first', async () => {
    const [first, second] = [await chat(admin, 'new'), await chat(admin, 'new')];
    const mine = await chat(member, 'new');
    await chat(admin, first);
    expect(await conversations(admin)).toMatchObject([
      { id: first, project_id: running, title: 'What is 7 + 5?', message_count: 4 },
      { id: second, message_count: 2 },
    ]);
    expect(await conversations(member)).toMatchObject([{ id: mine }]);
    expect(await conversations(developer)).toEqual([]);
  });

  it('keep every version, with who made it and when', async () => {
    const id = await createProject(service, admin.token, { goal: 'one' });
    await service.put(`${projects}/${id}`, developer.token, { version: 1, name: 'Two', spec: { goal: 'two' } });
    await update(id, { version: 1, spec: { goal: 'lost' } });
    await update(id, { version: 2, spec: {} });
    const { body } = await service.get(`${projects}/${id}/versions`, member.token);
    expect(body).toEqual({
      versions: [
        { version: 3, name: 'Two', created_at: expect.any(Number), created_by: admin.id },
        { version: 2, name: 'Two', created_at: expect.any(Number), created_by: developer.id },
        { version: 1, name: 'Capitals', created_at: expect.any(Number), created_by: admin.id },
      ],
      count: 3,
      next_cursor: null,
    });
    const page = (await service.get(`${projects}/${id}/versions?limit=2`, member.token)).body;
    expect(page).toEqual({ versions: body.versions.slice(0, 2), count: 2, next_cursor: '2' });
    const rest = (await service.get(`${projects}/${id}/versions?cursor=2`, member.token)).body;
    expect(rest.versions).toEqual(body.versions.slice(2));
    const second = await service.get(`${projects}/${id}/versions/2`, member.token);
    expect(second.body).toEqual({ ...body.versions[1], id, spec: { goal: 'two' } });
    for (const none of ['0', '4', '-1', '1.0', 'x', '99999999999']) {
      expect((await service.get(`${projects}/${id}/versions/${none}`, member.token)).status).toBe(404);
    }
    const bad = await service.get(`${projects}/${id}/versions?limit=no`, member.token);
    expect(bad).toMatchObject({ status: 422, body: { code: 'invalid_request', details: [{ path: 'limit' }] } });
    expect((await service.get(`${projects}/${id}/versions/1`, stranger.token)).status).toBe(404);
    expect((await service.get(`${projects}/${id}/versions?limit=no`, stranger.token)).status).toBe(404);
  });

  it('go with all that they hold, their running model too, when an admin deletes them', async () => {
    const id = running;
    await chat(admin, 'new');
    expect(await conversations(admin)).not.toEqual([]);
    await update(id, { version: 1, spec: {} });
    const children = () => service.pids.flatMap((pid) => descendants(pid));
    expect(children()).not.toEqual([]);
    for (const { token } of [member, developer]) {
      const refused = await service.call('DELETE', `${projects}/${id}`, { token });
      expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
    const headers = { 'If-Match': '"1"' };
    const stale = await service.call('DELETE', `${projects}/${id}`, { token: admin.token, headers });
    expect(stale).toMatchObject({ status: 409, body: { code: 'stale_version', details: [{ current: 2 }] } });
    const { status, body } = await service.call('DELETE', `${projects}/${id}`, { token: admin.token });
    expect({ status, body }).toEqual({ status: 200, body: { id, deleted: true } });
    expect(children()).toEqual([]);
    expect(await conversations(admin)).toEqual([]);
    for (const path of ['', '/runtime', '/versions', '/versions/1']) {
      expect((await service.get(`${projects}/${id}${path}`, admin.token)).status).toBe(404);
    }
    expect((await service.call('DELETE', `${projects}/${id}`, { token: admin.token })).status).toBe(404);
    for (const table of ['project_versions', 'models', 'runtime_connections']) {
      const left = `SELECT count(*)::int AS n FROM ${table} WHERE project_id = $1`;
      expect(await query(service.databaseUrl as string, left, [id])).toEqual([{ n: 0 }]);
    }
  });
});
