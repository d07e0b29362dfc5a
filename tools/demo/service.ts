import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { Deviation } from './steps.js';

const MAIN = join(__dirname, '../../src/main.js');
/** The variables that the service gets from the caller's environment. None of them is a setting. */
const INHERITED = ['PATH', 'HOME', 'TMPDIR', 'LANG'];
const READY_WITHIN_MS = 60_000;
const MAIL_WITHIN_MS = 15_000;
const END_WITHIN_MS = 30_000;

/** Runs the real service in its own process, with a temporary data folder. */
export class DemoService {
  private readonly folder = mkdtempSync(join(tmpdir(), 'tenon-demo-'));
  private child: ChildProcess | null = null;
  private output = '';
  /** The base URL. Is empty before the start. */
  url = '';

  /** Starts the service. Resolves with the base URL. */
  async start(signal: AbortSignal): Promise<string> {
    chmodSync(this.folder, 0o711); // as root, the database runs under another account, which must reach its folder
    const inherited = INHERITED.map((name) => [name, process.env[name]]).filter(([, value]) => value !== undefined);
    const child = spawn(process.execPath, [MAIN], {
      cwd: this.folder, // it has no .env file
      env: { ...Object.fromEntries(inherited), SERVICE_PORT: '0', SERVICE_DATA_DIR: join(this.folder, 'data') },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // Ctrl-C reaches only the demo, which then ends the service
    });
    this.child = child;
    child.stderr.on('data', (text) => {
      this.output = (this.output + text).slice(-4_000);
    });
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(READY_WITHIN_MS)]);
    const line = await Promise.race([
      once(createInterface(child.stdout), 'line', { signal: bounded }).then(([text]) => String(text)),
      once(child, 'exit', { signal: bounded }).then(([code]) => `exit code ${code}\n${this.output}`),
    ]).catch((error: unknown) => `${error}\n${this.output}`);
    signal.throwIfAborted();
    const [, url] = /^ready (http:\/\/\S+)$/.exec(line) ?? [];
    if (!url) throw new Deviation(`ready http://… within ${READY_WITHIN_MS / 1000} s`, line);
    this.url = url;
    return url;
  }

  /** Waits for the first e-mail in the outbox folder and returns its text. */
  async firstMail(signal: AbortSignal): Promise<string> {
    const outbox = join(this.folder, 'data', 'outbox');
    for (let waited = 0; waited < MAIL_WITHIN_MS; waited += 50) {
      const [name] = existsSync(outbox) ? readdirSync(outbox).filter((file) => file.endsWith('.eml')) : [];
      if (name) return readFileSync(join(outbox, name), 'utf8');
      await delay(50, undefined, { signal });
    }
    throw new Deviation(`an .eml file in outbox/ within ${MAIL_WITHIN_MS / 1000} s`, 'none');
  }

  get running(): boolean {
    return this.child !== null && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Stops the service with SIGTERM. Resolves with its exit code. */
  async stop(): Promise<string> {
    const { child } = this;
    if (!child) return 'never started';
    const killing = setTimeout(() => child.kill('SIGKILL'), END_WITHIN_MS);
    if (this.running) {
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
    }
    clearTimeout(killing);
    return child.signalCode ?? `exit code ${child.exitCode}`;
  }

  /** Removes the data folder. */
  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
