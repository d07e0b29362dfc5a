import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../src/infrastructure/embedded-postgres/embedded-postgres.js';
import { temporaryFolder } from '../tests/support/service.js';

/** The compiled benchmarks are in `dist/bench`. */
const PEERS = join(__dirname, '../../node_modules/.cache/tenon-bench');

/**
 * Installs packages with their exact versions, without their scripts, and returns their folder. `npm ci` removes it.
 * Until then, no later run needs the registry. If they cannot be installed, says so and returns null.
 */
export function installed(...packages: readonly string[]): string | null {
  const folder = join(PEERS, packages[0]?.replace(/\W+/g, '-') ?? '');
  mkdirSync(folder, { recursive: true });
  const quietly = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', '--loglevel=error'];
  try {
    execFileSync('npm', ['install', '--prefix', folder, '--save-exact', ...quietly, ...packages], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return folder;
  } catch {
    console.log(`${packages.join(', ')} could not be installed: no comparison`);
    return null;
  }
}

export interface Started {
  readonly pid: number;
  readonly url: string;
}

/** Holds a folder, a PostgreSQL server for all contenders, and their processes. All run on the Node of this process. */
export class Stage {
  private readonly children: ChildProcess[] = [];

  private constructor(
    readonly folder: string,
    private readonly server: { readonly url: string; stop(): Promise<void> },
    /** The process of PostgreSQL. */
    readonly postgres: number,
  ) {}

  static async open(): Promise<Stage> {
    const folder = await temporaryFolder();
    const postgres = join(folder, 'postgres');
    const server = await startEmbeddedPostgres({ folder: postgres, maxConnections: 300 });
    const [pid] = readFileSync(join(postgres, 'data/postmaster.pid'), 'utf8').split('\n');
    return new Stage(folder, server, Number(pid));
  }

  /** Creates a database and returns its URL. */
  async database(name: string): Promise<string> {
    await query(this.server.url, `CREATE DATABASE ${name}`);
    return this.server.url.replace('/tenon?', `/${name}?`);
  }

  /** Starts a compiled file of this folder. Returns its process and its first message. */
  async fork<T>(file: string, ...args: readonly string[]): Promise<{ readonly pid: number; readonly message: T }> {
    const child = fork(join(__dirname, file), args);
    this.children.push(child);
    const [message] = (await once(child, 'message')) as [T];
    return { pid: child.pid as number, message };
  }

  /** Starts a server that listens on the port that `given` gets. Resolves when it answers `path`. */
  async spawn(path: string, given: (port: number) => { args: string[]; env?: NodeJS.ProcessEnv }): Promise<Started> {
    const port = await freePort();
    const { args, env } = given(port);
    const child = spawn(process.execPath, args, {
      env: { PATH: process.env.PATH, NODE_ENV: 'production', ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    this.children.push(child);
    const url = `http://127.0.0.1:${port}`;
    while (!(await fetch(url + path).catch(() => null))) {
      if (child.exitCode !== null) throw new Error(`${args[0]} ended with ${child.exitCode}`);
      await delay(100);
    }
    return { pid: child.pid as number, url };
  }

  async close(): Promise<void> {
    for (const child of this.children) child.kill();
    await this.server.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

export async function query(databaseUrl: string, ...statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
