import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { launch, Service, temporaryFolder } from '../support/service.js';
import { createProject, register, registeredModel } from '../support/workspace.js';

/** Accepts connections and never says a word. */
async function silence(): Promise<{ port: number; close(): void }> {
  const sockets = new Set<import('node:net').Socket>();
  const server: Server = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port: (server.address() as { port: number }).port, close };
}

describe('a start', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('is given up in time where the database says nothing, and names it', async () => {
    const { port, close } = await silence();
    const databaseUrl = `postgres://tenon:hidden@127.0.0.1:${port}/tenon`;
    const { ended, errors } = launch({ dataDir: folder, databaseUrl, env: { SERVICE_DATABASE_WAIT_S: '1' } });
    expect(await ended).toBe(1);
    expect(errors().trim().split('\n').at(-1)).toMatch(/^the database 127.0.0.1:\d+\/tenon \(DATABASE_URL\)/);
    close();
  });

  it('that waits for its database ends at SIGTERM', async () => {
    const { child, ended } = launch({ dataDir: folder, databaseUrl: 'postgres://tenon:x@127.0.0.1:1/tenon' });
    await once(child.stderr as NodeJS.ReadableStream, 'data');
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  it('says in a line what is wrong with its folder or its log', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    for (const [env, name] of [
      [{ SERVICE_DATA_DIR: file }, 'SERVICE_DATA_DIR'],
      [{ SERVICE_DATA_DIR: '/proc/nope' }, 'SERVICE_DATA_DIR'],
      [{ SERVICE_LOG_FILE: join(file, 'log') }, 'SERVICE_LOG_FILE'],
    ] as const) {
      const { ended, errors } = launch({ dataDir: folder, databaseUrl: null, env });
      expect(await ended).toBe(1);
      expect(errors().trim().split('\n')).toEqual([expect.stringContaining(name)]);
    }
  });
});

describe('an end', () => {
  it('is in time while the mail server hangs', async () => {
    const { port, close } = await silence();
    const env = { SERVICE_SMTP_URL: `smtp://127.0.0.1:${port}`, SERVICE_SHUTDOWN_TIMEOUT_S: '1' };
    const folder = await temporaryFolder();
    const service = await Service.start({ env, dataDir: folder });
    await register(service, 'Ada');
    await register(service, 'Mia');
    expect(await service.stop()).toBe(0);
    const log = await readFile(join(folder, 'tenon.log'), 'utf8');
    expect(log).not.toContain('mail not delivered'); // it has not waited until the mail server was given up
    close();
    await rm(folder, { recursive: true, force: true });
  });
});

describe('a runtime that is started again and again', () => {
  it('is never said to be unavailable on the way', async () => {
    const service = await Service.start();
    const { token } = await register(service, 'Ada');
    const project = await createProject(service, token);
    const runtime = `/v1/projects/${project}/runtime`;
    await service.put(runtime, token, { model_id: await registeredModel(service, token, project) });
    const seen = new Set<string>();
    for (let round = 0; round < 6; round++) {
      const calls = [
        service.post(`${runtime}/start`, token),
        ...Array.from({ length: 8 }, () => service.get(runtime, token)),
      ];
      for (const { body } of await Promise.all(calls)) seen.add(body.state);
      await service.post(`${runtime}/stop`, token);
    }
    expect(seen).not.toContain('unavailable');
    expect(seen).toContain('loading');
    await service.stop();
  });
});
