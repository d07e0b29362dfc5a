import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { ServiceSettings } from '../../src/application/shared/ports.js';
import type { QuotaName } from '../../src/domain/shared/storage-quota.js';
import { atOnce } from '../support/barrier.js';
import type { Answer } from '../support/http-caller.js';
import { masterKey } from '../support/monitoring.js';
import { until } from '../support/until.js';
import { ask, completions, createProject, type Member, readyProject } from '../support/workspace.js';
import { statusAndCode } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const EXCEEDED = '422 quota_exceeded';
const OCTETS = { 'Content-Type': 'application/octet-stream' };
const spec = { goal: 'x'.repeat(2_000) };
const records = [{ id: '1', input: 'x'.repeat(2_000), expected: 'y' }];

describe('quotas', () => {
  let app: TestApp;
  let admin: Member;
  let member: Member;
  let stranger: Member;
  const unlimited = Number.MAX_SAFE_INTEGER;
  const quotas: Record<QuotaName, number> = {
    projects: unlimited,
    workspaceBytes: unlimited,
    conversationBytes: unlimited,
    responseBytes: unlimited,
    externalJobs: unlimited,
    uploadBytes: unlimited,
  };
  const usual = { ...quotas };

  beforeAll(async () => {
    ({ app, admin, member, stranger } = await TestApp.withTeam({
      env: { SERVICE_MASTER_KEY: masterKey },
      adapt: (container) => {
        const settings = { ...container.get(ServiceSettings), quotas };
        container.rebind(ServiceSettings).toConstantValue(settings);
      },
    }));
    await app.verifyEmails();
  });
  afterEach(() => Object.assign(quotas, usual));
  afterAll(() => app.stop());

  const storage = async (token = admin.token) => (await app.get('/v1/status', token)).body.storage;
  const newProject = (token = admin.token, json: object = {}) => app.post('/v1/projects', token, json);
  const newJob = (token = admin.token) => app.post('/v1/jobs', token, { kind: 'external', name: 'nightly' });

  /** Leaves no room for a spec or a dataset of the test, but for an empty project. */
  const fillWorkspace = async (room = 1_000) => {
    const { used } = (await storage()).workspace_bytes;
    quotas.workspaceBytes = used + room;
    return used;
  };

  it('refuse the project that is one too many, of this team only, also if calls come at the same time', async () => {
    const { used } = (await storage()).projects;
    quotas.projects = used + 3;
    const created = await atOnce(12, () => newProject());
    expect(created.filter(({ status }) => status === 201)).toHaveLength(3);
    const refused = created.filter(({ status }) => status !== 201);
    for (const answer of refused) {
      expect(statusAndCode(answer)).toBe(EXCEEDED);
      expect(answer.body.error).toContain(
        `stores ${used + 3} projects, this call adds 1, and at most ${used + 3} are allowed (SERVICE_QUOTA_PROJECTS)`,
      );
      expect(answer.body.details).toMatchObject([{ path: '', current: used + 3 }]);
    }
    expect(await storage()).toMatchObject({ projects: { used: used + 3, limit: used + 3 } });
    expect((await newProject(stranger.token)).status).toBe(201);
    const [{ body: project } = { body: null }] = created.filter(({ status }) => status === 201);
    const path = `/v1/projects/${project.id}`;
    expect((await app.put(path, admin.token, { version: 1, spec })).status).toBe(200);
    await app.delete(path, admin.token);
    expect((await newProject()).status).toBe(201);
  });

  it('refuse specs that are too long together with all versions that the team stores', async () => {
    const project = `/v1/projects/${await createProject(app, admin.token)}`;
    const requestId = randomUUID();
    const draft = { request_id: requestId, spec };
    const { body: model } = await app.post(`${project}/models`, admin.token, draft);
    const used = await fillWorkspace();
    const over = await app.post('/v1/projects', admin.token, { spec });
    expect(statusAndCode(over)).toBe(EXCEEDED);
    expect(over.body.error).toMatch(
      new RegExp(
        `^Your team stores ${used} bytes of specs and datasets, this call adds 2\\d{3}, and ` +
          `at most ${used + 1_000} are allowed \\(SERVICE_QUOTA_WORKSPACE_MB\\): delete`,
      ),
    );
    const refused: Answer[] = [
      await app.put(project, admin.token, { version: 1, spec }),
      await app.post(`${project}/models`, admin.token, { request_id: randomUUID(), spec }),
      await app.put(`${project}/models/${model.id}`, admin.token, { version: 1, spec }),
      await app.post(`${project}/models/${model.id}/fork`, admin.token, {}),
    ];
    expect(refused.map(statusAndCode)).toEqual(refused.map(() => EXCEEDED));
    expect((await storage()).workspace_bytes).toEqual({ used, limit: used + 1_000 });
    // A repeated call adds nothing.
    expect((await app.post(`${project}/models`, admin.token, draft)).body.id).toBe(model.id);
    expect((await app.post('/v1/projects', stranger.token, { spec })).status).toBe(201);
    await app.delete(`${project}/models/${model.id}`, admin.token);
    expect((await app.put(project, admin.token, { version: 1, spec })).status).toBe(200);
  });

  it('refuse records of datasets that are too long together with all kept versions', async () => {
    const project = `/v1/projects/${await createProject(app, admin.token)}`;
    const { body: dataset } = await app.post(`${project}/datasets`, admin.token, { records });
    const at = `${project}/datasets/${dataset.id}`;
    await fillWorkspace();
    const refused: Answer[] = [
      await app.post(`${project}/datasets`, admin.token, { records }),
      await app.put(at, admin.token, { version: 1, records: [{ ...records[0], expected: 'other' }] }),
      await app.post(`${at}/fork`, admin.token, {}),
      await app.post(`${at}/records`, admin.token, { records: [{ ...records[0], expected: 'other' }] }),
      await app.call('PATCH', `${at}/records/1`, {
        token: admin.token,
        json: { version: 1, expected: 'z'.repeat(2_000) },
      }),
    ];
    expect(refused.map(statusAndCode)).toEqual(refused.map(() => EXCEEDED));
    expect((await app.put(at, admin.token, { version: 1, name: 'renamed' })).status).toBe(200);
    await app.delete(at, admin.token);
    expect((await app.post(`${project}/datasets`, admin.token, { records })).status).toBe(201);
  });

  it('refuse a turn of a conversation before the model answers, of this account only', async () => {
    const project = await readyProject(app, admin.token);
    const chat = (kept: string | null, token = admin.token, path = completions(project)) =>
      app.call('POST', path, {
        token,
        json: ask(project, 'Hello'),
        headers: kept === null ? {} : { 'X-Conversation-Id': kept },
      });
    const id = (await chat('new')).headers.get('X-Conversation-Id') as string;
    const { used } = (await storage()).conversation_bytes;
    expect(used).toBeGreaterThan(0);
    quotas.conversationBytes = used;
    const jobs = async () => (await app.get('/v1/jobs?kind=chat', admin.token)).body.count;
    const before = await jobs();
    for (const kept of ['new', id]) {
      const refused = await chat(kept);
      expect(statusAndCode(refused)).toBe(EXCEEDED);
      expect(refused.body.error).toContain(`stores ${used} bytes of conversations, and at most ${used} are allowed`);
      const inOpenAi = await chat(kept, admin.token, '/openai/v1/chat/completions');
      expect(statusAndCode(inOpenAi)).toBe('400 quota_exceeded');
    }
    expect(await jobs()).toBe(before);
    expect((await chat(null)).status).toBe(200);
    expect((await chat('new', member.token)).status).toBe(200);
    await app.delete(`/v1/projects/${project}/conversations/${id}`, admin.token);
    expect((await chat('new')).status).toBe(200);
  });

  it('refuse the external job that is one too many, for each team and for the master key', async () => {
    for (const token of [admin.token, masterKey]) {
      await newJob(token);
      const { used } = (await storage(token)).external_jobs;
      expect(used).toBeGreaterThan(0);
      quotas.externalJobs = used + 2;
      const created = await atOnce(8, () => newJob(token));
      expect(created.map(statusAndCode).filter((one) => one === EXCEEDED)).toHaveLength(6);
      expect(created.find(({ status }) => status === 422)?.body.error).toContain(
        `stores ${used + 2} external jobs, this call adds 1, and at most ${used + 2} are allowed (SERVICE_QUOTA_EXTERNAL_JOBS)`,
      );
      expect((await newJob(stranger.token)).status).toBe(201);
      quotas.externalJobs = unlimited;
    }
  });

  describe('of uploads', () => {
    const KB = 1_000;
    const upload = (path: string, bytes: number) =>
      app.call('PUT', `/v1/model-files/${path}`, { token: admin.token, raw: Buffer.alloc(bytes), headers: OCTETS });
    const remove = (path: string) => app.delete(`/v1/model-files/${path}`, admin.token);
    const begin = (path: string): ClientRequest => {
      const { hostname, port } = new URL(app.url);
      const headers = { Authorization: `Bearer ${admin.token}`, ...OCTETS, Expect: '100-continue' };
      return request({ hostname, port, method: 'PUT', path: `/v1/model-files/${path}`, headers, agent: false });
    };
    const statusOf = async (sent: ClientRequest) => {
      const [response] = await once(sent, 'response');
      response.resume();
      return response.statusCode;
    };
    const used = async () => (await storage()).upload_bytes?.used;

    it('count the files of the whole service, and a replaced file once', async () => {
      quotas.uploadBytes = 10 * KB;
      expect((await upload('one.onnx', 6 * KB)).status).toBe(201);
      await until('the status has the file', async () => (await used()) === 6 * KB);
      const refused = await upload('two.onnx', 5 * KB);
      expect(statusAndCode(refused)).toBe(EXCEEDED);
      expect(refused.body.error).toContain(
        'The service stores 6000 bytes of uploaded models, this call adds 5000, and at most 10000 are allowed (SERVICE_QUOTA_UPLOADS_MB)',
      );
      expect((await upload('one.onnx', 10 * KB)).status).toBe(200);
      expect((await remove('one.onnx')).status).toBe(200);
      expect((await upload('two.onnx', 5 * KB)).status).toBe(201);
      await until('the status has the other file', async () => (await used()) === 5 * KB);
      expect((await storage(member.token)).upload_bytes).toEqual({ used: 5 * KB, limit: 10 * KB });
      expect((await storage(stranger.token)).upload_bytes).toBeNull();
      await remove('two.onnx');
    });

    it('hold for uploads of unknown length that arrive at the same time', async () => {
      quotas.uploadBytes = 10 * KB;
      const slow = begin('slow.onnx');
      slow.flushHeaders();
      await once(slow, 'continue');
      slow.write(Buffer.alloc(4 * KB));
      expect((await upload('fast.onnx', 5 * KB)).status).toBe(201);
      slow.end(Buffer.alloc(4 * KB));
      expect(await statusOf(slow)).toBe(422);
      const { model_files: files } = (await app.get('/v1/model-files', admin.token)).body;
      const paths = files
        .filter(({ writable }: { writable: boolean }) => writable)
        .map(({ path }: Answer['body']) => path);
      expect(paths).toEqual(['fast.onnx']);

      const many = await atOnce(4, (n) => upload(`${n}.onnx`, 3 * KB));
      expect(many.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(1);
    });
  });
});

describe('the limit of connections', () => {
  const most = 16;
  let app: TestApp;
  const kept: Socket[] = [];
  afterEach(async () => {
    for (const socket of kept.splice(0)) socket.destroy();
    await app.stop();
  });

  const open = async (localAddress = '127.0.0.1') => {
    const { hostname: host, port } = new URL(app.url);
    const socket = connect({ host, port: Number(port), localAddress });
    await once(socket, 'connect');
    return socket;
  };
  const keep = async (count: number) => {
    kept.push(...(await Promise.all(Array.from({ length: count }, () => open()))));
    await until('all connections are accepted', async () => {
      const accepted = await new Promise((resolve) => app.server.getConnections((_, count) => resolve(count)));
      return accepted === count;
    });
  };
  const isClosed = async () => {
    const refused = await open();
    const received: Buffer[] = [];
    refused.on('data', (bytes) => received.push(bytes)).on('error', () => undefined);
    await once(refused, 'close');
    expect(Buffer.concat(received).toString()).toBe('');
  };
  const logged = () => app.logger.lines.filter(({ event }) => event === 'connections over the limit were closed');
  const hasRoom = () =>
    until('there is room again', async () => (await app.get('/health/live').catch(() => null))?.status === 200);

  it('closes further connections without an answer, and logs them once; a trusted proxy may have all', async () => {
    app = await TestApp.start({ env: { SERVICE_MAX_CONNECTIONS: String(most), SERVICE_TRUST_PROXY: 'loopback' } });
    await keep(most);
    for (let n = 0; n < 3; n++) await isClosed();
    expect(logged()).toMatchObject([{ level: 'warn', fields: { dropped: 1, limit: most } }]);
    for (const socket of kept) socket.destroy();
    await hasRoom();
  });

  it('leaves three quarters of the connections to other addresses', async () => {
    app = await TestApp.start({ env: { SERVICE_MAX_CONNECTIONS: String(most) } });
    await keep(most / 4);
    await isClosed();
    expect(logged()).toMatchObject([{ level: 'warn', fields: { dropped: 1, limit: most / 4 } }]);
    const other = await open('127.0.0.2');
    other.end('GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect((await once(other, 'data')).toString()).toMatch(/^HTTP\/1.1 200 /);
    kept.pop()?.destroy();
    await hasRoom();
  });
});
