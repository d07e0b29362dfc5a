import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { freshDatabase } from './database.js';
import { HttpCaller, SCALED } from './http-caller.js';
import { RoundRobin } from './round-robin.js';

const PROCESSES = Number(process.env.TENON_TEST_PROCESSES ?? 1);

/** The compiled service. Its place depends on whether this file is compiled, too. */
const MAIN = join(__dirname, '../..', __filename.endsWith('.ts') ? 'dist/src/main.js' : 'src/main.js');

export interface Options {
  readonly env?: Readonly<Record<string, string>>;
  /** Stays after the end. Without this option, the service gets a new folder, which is removed at the end. */
  readonly dataDir?: string;
  /** With undefined, the service gets a fresh database. With null, it uses the embedded one. */
  readonly databaseUrl?: string | null;
  /** The program to run, by default the compiled one of this checkout. */
  readonly main?: string;
  /** Says why the service is a single process, even if other services are several behind a proxy. */
  readonly alone?: string;
}

/** Runs the real service as a process on a free port, or as several processes behind a proxy. */
export class Service extends HttpCaller {
  private constructor(
    url: string,
    readonly dataDir: string,
    readonly databaseUrl: string | null,
    private readonly running: readonly ServiceProcess[],
    private readonly dispose: () => Promise<void>,
  ) {
    super(url);
  }

  static async start(options: Options = {}): Promise<Service> {
    const own = options.dataDir === undefined ? await temporaryFolder() : null;
    const database = options.databaseUrl === undefined ? await freshDatabase() : null;
    const databaseUrl = options.databaseUrl ?? database?.url ?? null;
    const dataDir = options.dataDir ?? (own as string);
    const several = SCALED && options.alone === undefined && databaseUrl !== null;
    const proxy = several ? await RoundRobin.start() : null;
    const running: ServiceProcess[] = [];
    const dispose = async () => {
      proxy?.close();
      await database?.drop();
      if (own) await rm(own, { recursive: true, force: true });
    };
    try {
      if (!proxy) {
        running.push(launch({ ...options, dataDir, databaseUrl }));
        return new Service(await (running[0] as ServiceProcess).ready, dataDir, databaseUrl, running, dispose);
      }
      for (let n = 1; n <= PROCESSES; n++) {
        const name = `${basename(dataDir).replace(/\W/g, '-')}-${n}`;
        const env = { SERVICE_BASE_URL: proxy.url, SERVICE_INSTANCE_NAME: name, ...options.env };
        const main = options.main ?? (n > 1 ? process.env.TENON_TEST_NEXT_RELEASE : undefined);
        running.push(launch({ ...options, ...(main && { main }), dataDir, databaseUrl, env }));
      }
      for (const { ready } of running) proxy.add(await ready);
      return new Service(proxy.url, dataDir, databaseUrl, running, dispose);
    } catch (error) {
      for (const { child } of running) child.kill('SIGKILL');
      await dispose();
      throw error;
    }
  }

  get pid(): number {
    const [pid, ...more] = this.pids;
    if (pid === undefined || more.length > 0)
      throw new Error('The service has several processes: use `pids`, or start it `alone`.');
    return pid;
  }

  get pids(): number[] {
    return this.running.map(({ child }) => child.pid as number);
  }

  signal(name: NodeJS.Signals): void {
    for (const { child } of this.running) child.kill(name);
  }

  /** Resolves to the exit code, or to the signal that ended the process. Of several, the first that is not 0 counts. */
  get ended(): Promise<number | string> {
    return Promise.all(this.running.map(({ ended }) => ended)).then((codes) => codes.find((code) => code !== 0) ?? 0);
  }

  get errors(): string {
    return this.running.map(({ errors }) => errors()).join('');
  }

  /** Shuts the service down. Returns its exit code. */
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
  /** Resolves to the base URL of the ready line. Rejects with the errors if the process ends before. */
  readonly ready: Promise<string>;
  readonly ended: Promise<number | string>;
  readonly output: () => string;
  readonly errors: () => string;
}

/** Sets limits that no test reaches. A test may set others. */
const UNLIMITED = { SERVICE_RATE_LIMIT_PER_MIN: '1000000', SERVICE_RATE_LIMIT_AUTH_PER_MIN: '1000000' };

/** The limit of `npm start`. */
const HEAP_LIMIT = '--max-old-space-size=1024';

/** Starts the service. It gets no settings from the environment of the tests. */
export function launch(options: Options & { dataDir: string }): ServiceProcess {
  const child = spawn(process.execPath, [HEAP_LIMIT, options.main ?? MAIN], {
    cwd: options.dataDir,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.TENON_TEST_COMPILED,
      SERVICE_DATA_DIR: options.dataDir,
      SERVICE_PORT: '0',
      SERVICE_BCRYPT_COST: '4',
      SERVICE_INSTANCE_NAME: basename(options.dataDir).replace(/\W/g, '-'),
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
