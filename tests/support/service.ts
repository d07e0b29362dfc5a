import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { freshDatabase } from './database.js';
import { HttpCaller } from './http-caller.js';

/** The compiled service, whether this file itself is run as TypeScript or compiled beside it. */
const root = join(__dirname, '../..');
const MAIN = join(existsSync(join(root, 'dist')) ? join(root, 'dist') : root, 'src/main.js');

export interface Options {
  readonly env?: Readonly<Record<string, string>>;
  /** Kept by the caller; otherwise a folder of its own, removed at the end. */
  readonly dataDir?: string;
  /** Undefined: a fresh database on the run's server. Null: the embedded one. */
  readonly databaseUrl?: string | null;
}

/** The real service, as its own process, on a free port. */
export class Service extends HttpCaller {
  private constructor(
    url: string,
    readonly dataDir: string,
    readonly databaseUrl: string | null,
    private readonly running: ServiceProcess,
    private readonly dispose: () => Promise<void>,
  ) {
    super(url);
  }

  static async start(options: Options = {}): Promise<Service> {
    const own = options.dataDir === undefined ? await temporaryFolder() : null;
    const database = options.databaseUrl === undefined ? await freshDatabase() : null;
    const databaseUrl = options.databaseUrl ?? database?.url ?? null;
    const dataDir = options.dataDir ?? (own as string);
    const running = launch({ ...options, dataDir, databaseUrl });
    const dispose = async () => {
      await database?.drop();
      if (own) await rm(own, { recursive: true, force: true });
    };
    try {
      return new Service(await running.ready, dataDir, databaseUrl, running, dispose);
    } catch (error) {
      await dispose();
      throw error;
    }
  }

  get pid(): number {
    return this.running.child.pid as number;
  }

  signal(name: NodeJS.Signals): void {
    this.running.child.kill(name);
  }

  /** Resolves to the exit code, or to the name of the signal that ended it. */
  get ended(): Promise<number | string> {
    return this.running.ended;
  }

  get errors(): string {
    return this.running.errors();
  }

  /** Ends it in order; resolves to its exit code. */
  async stop(): Promise<number | string> {
    this.signal('SIGTERM');
    const code = await this.ended;
    await this.dispose();
    return code;
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended;
  }
}

export const temporaryFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'tenon-e2e-'));

export interface ServiceProcess {
  readonly child: ChildProcess;
  /** The base URL of the ready line; rejects with what was printed if the process ends before. */
  readonly ready: Promise<string>;
  readonly ended: Promise<number | string>;
  readonly output: () => string;
  readonly errors: () => string;
}

/** Limits that no test reaches unless it sets its own. */
export const UNLIMITED = { SERVICE_RATE_LIMIT_PER_MIN: '1000000', SERVICE_RATE_LIMIT_AUTH_PER_MIN: '1000000' };

/** Nothing of the tests' own environment reaches the service but the way to the system's programs. */
export function launch(options: Options & { dataDir: string }): ServiceProcess {
  const child = spawn(process.execPath, [MAIN], {
    cwd: options.dataDir,
    env: {
      PATH: process.env.PATH,
      SERVICE_DATA_DIR: options.dataDir,
      SERVICE_PORT: '0',
      SERVICE_BCRYPT_COST: '4',
      SERVICE_PROCESS_NAME: basename(options.dataDir).replace(/\W/g, '-'),
      ...UNLIMITED,
      ...(options.databaseUrl && { DATABASE_URL: options.databaseUrl }),
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = collected(child, 'stdout');
  const errors = collected(child, 'stderr');
  const ended = once(child, 'close').then(([code, signal]) => (signal ?? code) as number | string);
  const ready = new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', () => {
      const url = /^ready (\S+)$/m.exec(output())?.[1];
      if (url) resolve(url);
    });
    void ended.then((code) => reject(new Error(`ended with ${code}: ${errors()}`)));
  });
  ready.catch(() => undefined);
  return { child, ready, ended, output, errors };
}

function collected(child: ChildProcess, stream: 'stdout' | 'stderr'): () => string {
  let text = '';
  child[stream]?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return () => text;
}
