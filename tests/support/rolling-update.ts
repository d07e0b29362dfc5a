import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import OpenAI from 'openai';
import { codeOf, HttpCaller } from './http-caller.js';
import { sendJson } from './local-server.js';
import { chunksOf, completion, type Script, sendEvents } from './scripted-engine.js';
import { launch, type ServiceProcess } from './service.js';
import { ask, completions, type Member } from './workspace.js';

/** The checkout. Its place depends on whether this file is compiled, too. */
const ROOT = join(__dirname, __filename.endsWith('.ts') ? '../..' : '../../..');

export const CADDY = process.env.CADDY ?? 'caddy';

export function hasCaddy(): boolean {
  try {
    execFileSync(CADDY, ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export const ANSWER = 'The capital of France is Paris, and that of Italy is Rome, as everybody knows.';
const WHOLE_MS = 200;
const FAILURE_MS = 500;
const CHUNK_MS = 100;

/** Answers after a while, and streams word by word. */
export const slowly: Script = async ({ body: { model, stream } }, response) => {
  const usage = { prompt_tokens: 7, completion_tokens: 6 };
  if (!stream) {
    await pause(WHOLE_MS);
    sendJson(response, 200, completion(model, ANSWER, { usage }));
    return;
  }
  for (const event of chunksOf(model, ANSWER, { usage })) {
    sendEvents(response, event);
    await pause(CHUNK_MS);
  }
  response.end();
};

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Runs Caddy with the configuration for instances at known addresses, on a free port. Its log is in the folder. */
export async function startCaddy(folder: string, ports: readonly number[]): Promise<{ url: string; stop(): void }> {
  const address = `127.0.0.1:${await freePort()}`;
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    TENON_ADDRESS: address,
    TENON_INSTANCES: ports.map((port) => `127.0.0.1:${port}`).join(' '),
  };
  const log = openSync(join(folder, 'caddy.log'), 'a');
  const args = ['run', '--config', join(ROOT, 'docker/instances.Caddyfile'), '--adapter', 'caddyfile'];
  const child: ChildProcess = spawn(CADDY, args, { env, stdio: ['ignore', log, log] });
  closeSync(log);
  const url = `http://${address}`;
  while (!(await fetch(`${url}/health/live`).catch(() => null))) {
    if (child.exitCode !== null) throw new Error(`Caddy ended with ${child.exitCode}`);
    await pause(50);
  }
  return { url, stop: () => void child.kill() };
}

const REFUSALS = 'refusals to come again';

/** Counts what callers get while they call again and again. */
export class Load {
  /** Counts the outcomes by their kinds. */
  readonly counts: Record<string, number> = {};
  /** Lists what callers should not see. */
  readonly failures: string[] = [];
  private going = true;
  private readonly begun = performance.now();
  private readonly callers: Promise<void>[] = [];

  constructor(
    private readonly url: string,
    private readonly project: string,
    private readonly member: Member,
  ) {}

  /** Starts callers: half of them use the `openai` library with its own retries, a half of each kind takes streams. */
  start(count: number): void {
    for (let nth = 0; nth < count; nth++) {
      const streams = nth % 4 < 2;
      this.callers.push(this.repeat(nth % 2 ? this.library(streams) : this.plain(streams)));
    }
  }

  /** Returns the number of calls that were answered whole. */
  get answered(): number {
    const answers = Object.entries(this.counts).filter(([kind]) => !kind.startsWith(REFUSALS));
    return answers.reduce((sum, [, count]) => sum + count, 0);
  }

  async stop(): Promise<void> {
    this.going = false;
    await Promise.all(this.callers);
  }

  private async repeat(call: () => Promise<void>): Promise<void> {
    while (this.going) await call();
  }

  private took(kind: string): void {
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
  }

  private async failed(how: string): Promise<void> {
    const seconds = (performance.now() - this.begun) / 1_000;
    this.failures.push(`after ${seconds.toFixed(1)} s: ${how}`);
    await pause(FAILURE_MS); // so that a failure of all calls does not become a storm
  }

  /** Returns a caller that waits as a refusal tells, and that does not repeat a call in any other case. */
  private plain(stream: boolean): () => Promise<void> {
    const service = new HttpCaller(this.url);
    const json = ask(this.project, 'France?', { stream });
    const path = stream ? '/openai/v1/chat/completions' : completions(this.project);
    return async () => {
      try {
        const answer = await service.post(path, this.member.apiKey, json);
        const { status, body, headers } = answer;
        const after = headers.get('retry-after');
        const text = stream ? textOf(String(body)) : body.choices?.[0]?.message.content;
        if (status === 200 && text === ANSWER) this.took(stream ? 'streams' : 'answers');
        else if (status === 503 && after !== null) {
          this.took(`${REFUSALS} (${codeOf(answer)})`);
          await pause(Number(after) * 1_000);
        } else await this.failed(`${status} ${JSON.stringify(body).slice(-300)}`);
      } catch (error) {
        await this.failed(String(error));
      }
    };
  }

  private library(stream: boolean): () => Promise<void> {
    const client = new OpenAI({ baseURL: `${this.url}/openai/v1`, apiKey: this.member.apiKey });
    const question = { model: this.project, messages: [{ role: 'user' as const, content: 'France?' }] };
    return async () => {
      try {
        let text = '';
        if (stream) {
          for await (const { choices } of await client.chat.completions.create({ ...question, stream }))
            text += choices[0]?.delta.content ?? '';
        } else text = (await client.chat.completions.create(question)).choices[0]?.message.content ?? '';
        if (text === ANSWER) this.took(`${stream ? 'streams' : 'answers'} to the openai library`);
        else await this.failed(`the openai library got: ${text}`);
      } catch (error) {
        await this.failed(`the openai library: ${error}`);
      }
    };
  }
}

/** Returns the text of a stream that has its end. */
function textOf(stream: string): string | null {
  const events = [...stream.matchAll(/^data: (.*)$/gm)].map(([, data]) => data as string);
  if (events.pop() !== '[DONE]') return null;
  return events.map((event) => JSON.parse(event).choices?.[0]?.delta?.content ?? '').join('');
}

/** Instances that keep their ports when a newer program replaces them. */
export class Instances {
  private readonly running: ServiceProcess[] = [];

  private constructor(
    readonly ports: readonly number[],
    private readonly options: Omit<Parameters<typeof launch>[0], 'main'>,
  ) {}

  static async start(count: number, options: Omit<Parameters<typeof launch>[0], 'main'>): Promise<Instances> {
    const ports: number[] = [];
    while (ports.length < count) ports.push(await freePort());
    const instances = new Instances(ports, options);
    for (const nth of ports.keys()) await instances.launch(nth);
    return instances;
  }

  /** Ends each instance as an operator does, and starts the program in its place before the next one is ended. */
  async replace(main: string): Promise<void> {
    for (const nth of this.ports.keys()) {
      await this.end(nth);
      await this.launch(nth, main);
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.running.keys()].map((nth) => this.end(nth)));
  }

  private async launch(nth: number, main?: string): Promise<void> {
    const env = {
      ...this.options.env,
      SERVICE_PORT: String(this.ports[nth]),
      SERVICE_INSTANCE_NAME: `instance-${nth}`,
    };
    const one = launch({ ...this.options, env, ...(main && { main }) });
    this.running[nth] = one;
    await one.ready;
  }

  private async end(nth: number): Promise<void> {
    const { child, ended, errors } = this.running[nth] as ServiceProcess;
    child.kill('SIGTERM');
    const code = await ended;
    if (code !== 0) throw new Error(`an instance ended with ${code}: ${errors().slice(-2_000)}`);
  }
}
