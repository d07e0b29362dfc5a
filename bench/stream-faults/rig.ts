import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { Agent, type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { query } from '../../tests/support/database.js';
import { masterKey } from '../../tests/support/monitoring.js';
import { descendants } from '../../tests/support/processes.js';
import { type Asked, chunk, ScriptedEngine, sendEvents } from '../../tests/support/scripted-engine.js';
import type { Service } from '../../tests/support/service.js';
import { until } from '../../tests/support/until.js';

/** More chunks than all buffers between engine and caller can hold. */
const LONG_CHUNKS = 2_000;
const TEXT = 'x'.repeat(8_192);

/** Starts an engine that does not end its streams. Streams of the model `cut` break off, those of `long` are long. */
export async function faultyEngine(): Promise<ScriptedEngine> {
  const engine = await ScriptedEngine.start();
  engine.script = async ({ body }: Asked, response: ServerResponse) => {
    // The engine keeps no record of its requests, so that they do not fill the memory.
    engine.asked.length = 0;
    sendEvents(response, chunk(body.model, { role: 'assistant', content: '' }), chunk(body.model, { content: 'Hi' }));
    if (body.model === 'cut') setImmediate(() => response.destroy());
    if (body.model === 'long') await flood(response, body.model);
  };
  return engine;
}

async function flood(response: ServerResponse, model: string): Promise<void> {
  const event = `data: ${JSON.stringify(chunk(model, { content: TEXT }))}\n\n`;
  const closed = once(response, 'close');
  for (let sent = 0; sent < LONG_CHUNKS && !response.closed; sent++) {
    if (!response.write(event)) await Promise.race([once(response, 'drain'), closed]);
  }
}

export interface Endpoint {
  readonly url: string;
  readonly apiKey: string;
  readonly model: string;
}

const agent = new Agent({ keepAlive: true });

/** Asks for a stream. Returns the request without waiting for the answer. */
export function send({ url, apiKey, model }: Endpoint, question: object): ClientRequest {
  const body = JSON.stringify({ model, temperature: 0, stream: true, ...question });
  const headers = {
    Authorization: `Bearer ${apiKey}`,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  };
  const sent = request(`${url}/openai/v1/chat/completions`, { method: 'POST', headers, agent });
  sent.end(body);
  return sent;
}

/** Reads until the stream ends. `seen` was read before. Returns the code of its error, or the last event. */
export async function endOf(response: IncomingMessage, seen: string): Promise<string> {
  let text = seen;
  for await (const piece of response.setEncoding('utf8')) text = (text + piece).slice(-2_000);
  const last = text.trim().split('\n\n').at(-1)?.replace('data: ', '') ?? '';
  return last.startsWith('{') ? (JSON.parse(last).error?.code ?? 'a chunk') : last;
}

/** Counts the calls of a project by their status and the code of their error. */
export async function endsOf(databaseUrl: string, projectId: string): Promise<Map<string, number>> {
  const rows = await query<{ how: string; n: number }>(
    databaseUrl,
    `SELECT concat_ws(' ', status, split_part(error, ':', 1)) AS how, count(*)::integer AS n FROM jobs
      WHERE project_id = $1 GROUP BY 1`,
    [projectId],
  );
  return new Map(rows.map(({ how, n }) => [how, n]));
}

export interface Rest {
  readonly rssMb: number;
  readonly workersMb: number;
  readonly descriptors: number;
  readonly children: number;
  readonly calls: number;
  readonly upstream: number;
}

/** Returns the resources that the service uses now, and the connections of the engine elsewhere. */
export async function atRest(service: Service, engine: ScriptedEngine): Promise<Rest> {
  const children = descendants(service.pid);
  const { body } = await service.get('/metrics', masterKey);
  const calls = [...String(body).matchAll(/^tenon_chat_(?:waiting|running)_calls\S* (\d+)$/gm)];
  return {
    rssMb: rssMb(service.pid),
    workersMb: children.reduce((sum, pid) => sum + rssMb(pid), 0),
    descriptors: [service.pid, ...children].reduce((sum, pid) => sum + readdirSync(`/proc/${pid}/fd`).length, 0),
    children: children.length,
    calls: calls.reduce((sum, [, n]) => sum + Number(n), 0),
    upstream: engine.connections,
  };
}

/** Returns options with which Node.js writes a snapshot of its heap when it gets SIGUSR2. */
export const snapshotsIn = (folder: string) => `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${folder}`;

/** Returns the size of all live objects of the service. Its resident memory also includes garbage. */
export async function heapMb(service: Service, folder: string): Promise<number> {
  process.kill(service.pid, 'SIGUSR2');
  let size = 0;
  const sizeOf = (text: string) => {
    const { nodes, snapshot } = JSON.parse(text);
    const { node_fields: fields } = snapshot.meta;
    for (let at = fields.indexOf('self_size'); at < nodes.length; at += fields.length) size += nodes[at];
  };
  await until('a snapshot is written', async () => {
    const [name] = readdirSync(folder).filter((one) => one.endsWith('.heapsnapshot'));
    if (!name) return false;
    try {
      sizeOf(readFileSync(join(folder, name), 'utf8'));
    } catch {
      return false;
    }
    rmSync(join(folder, name));
    return true;
  });
  return Math.round(size / 2 ** 20);
}

const rssMb = (pid: number) =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024);
