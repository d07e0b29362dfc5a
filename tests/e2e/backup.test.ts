import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startEmbeddedPostgres } from '../../src/infrastructure/embedded-postgres/embedded-postgres.js';
import { tenon, tenonProcess } from '../support/command-line.js';
import { masterKey } from '../support/monitoring.js';
import { Service, temporaryFolder } from '../support/service.js';
import { createProject, register } from '../support/workspace.js';

const env = { SERVICE_MASTER_KEY: masterKey };
const MODEL = join(__dirname, '../../models/tiny-chat/config.json');

/** Uses the embedded database. The second test goes on with the backup of the first. */
describe('a backup taken under load', () => {
  const folders: string[] = [];
  const services: Service[] = [];
  let dataDir: string;
  let file: string;
  let loading = true;
  const started = async (dataDir: string) => {
    const service = await Service.start({ databaseUrl: null, dataDir, env });
    services.push(service);
    return service;
  };
  const folder = async () => {
    const made = await temporaryFolder();
    folders.push(made);
    return made;
  };
  afterAll(async () => {
    loading = false; // whatever became of the test
    await Promise.allSettled(services.map((one) => one.stop()));
    await Promise.all(folders.map((one) => rm(one, { recursive: true, force: true })));
  });

  it('restores into an empty folder, to a service with all that was acknowledged before it began', async () => {
    const [elsewhere, files] = [await folder(), await folder()];
    dataDir = await folder();
    const service = await started(dataDir);
    const { token, apiKey } = await register(service, 'Ada');
    const model = await readFile(MODEL);
    const uploaded = await service.call('PUT', '/v1/model-files/mine/config.json', {
      token,
      raw: model,
      headers: { 'Content-Type': 'application/octet-stream' },
    });
    expect(uploaded.status).toBeLessThan(300);

    const acknowledged: string[] = [];
    const writer = async () => {
      for (; loading; await pause(5)) acknowledged.push(await createProject(service, token));
    };
    const writers = [writer(), writer(), writer()];
    while (acknowledged.length < 20) await pause(10);
    const before = [...acknowledged];
    file = join(files, 'under-load.backup');
    const made = await tenonProcess({ dataDir, databaseUrl: null }, ['backup', file, '--with-models']);
    loading = false;
    await Promise.all(writers);
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(made.out).toMatch(/ \d+ tables, \d+ model files inside, \d+ only listed\n/);
    expect(acknowledged.length).toBeGreaterThan(before.length);
    const { body: audit } = await service.get('/v1/audit?action=database.backed_up', masterKey);
    expect(audit.entries).toEqual([
      expect.objectContaining({ actor: expect.objectContaining({ kind: 'command_line' }) }),
    ]);

    const there = { dataDir: elsewhere, databaseUrl: null };
    expect(await tenon({ dataDir, databaseUrl: null }, ['restore', file])).toMatchObject({ code: 1 });
    await service.stop();

    expect(await tenon(there, ['restore', file])).toMatchObject({ code: 0 });
    expect(await tenon(there, ['restore', file])).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not empty'),
    });
    const restored = await started(elsewhere);
    for (const id of before) expect((await restored.get(`/v1/projects/${id}`, token)).status).toBe(200);
    expect((await restored.get('/v1/status', apiKey)).status).toBe(200);
    expect(await readFile(join(elsewhere, 'models/mine/config.json'))).toEqual(model);
    expect(await readFile(join(elsewhere, 'secret'))).toEqual(await readFile(join(dataDir, 'secret')));
    const { body } = await restored.get('/v1/audit?action=database', masterKey);
    expect(body.entries.map(({ action }: { action: string }) => action)).toEqual(['database.restored']);
    await restored.stop();
  }, 300_000);

  it('is not restored where a service has the folder, though that be empty', async () => {
    for (const kept of ['secret', 'models']) await rm(join(dataDir, kept), { recursive: true });
    const server = await startEmbeddedPostgres({ folder: join(dataDir, 'postgres') });
    expect(await tenon({ dataDir, databaseUrl: null }, ['restore', file])).toMatchObject({
      code: 1,
      err: expect.stringContaining('a service runs on the data folder'),
    });
    await server.stop();
  }, 300_000);
});
