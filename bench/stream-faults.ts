import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startEmbeddedPostgres } from '../src/infrastructure/embedded-postgres/embedded-postgres.js';
import { masterKey } from '../tests/support/monitoring.js';
import { descendants } from '../tests/support/processes.js';
import { Service, temporaryFolder } from '../tests/support/service.js';
import { until } from '../tests/support/until.js';
import { readyProject, register, untilState } from '../tests/support/workspace.js';
import { makeModel } from './chat-engine/model.js';
import { atRest, endOf, endsOf, faultyEngine, heapMb, type Rest, send, snapshotsIn } from './stream-faults/rig.js';

/**
 * Repeats streams with faults: callers that stop reading, callers that abort, engines that close the connection, killed
 * chat workers. Shows how their jobs end, and whether memory, connections or processes are left.
 * `npm run bench:stream-faults [streams of each kind]`
 */
const TIMES = Number(process.argv[2] ?? 1_000);
/** The first round warms up. */
const ROUNDS = 10;
const AT_ONCE = 16;
const TIMEOUT_S = 3;
/** The memory at the end may be at most this many times the memory after the first rounds. */
const MOST_GROWTH = 1.15;
/** The pause before the heap is measured. Idle connections are closed by then. */
const REST_MS = 8_000;

interface Fault {
  readonly name: string;
  readonly project: string;
  readonly maxTokens: number;
  /** The status of each job at its end, with the code of its error. */
  readonly ends: string;
  /** The code that the caller must read last; null if the caller stops reading or aborts. */
  readonly last: string | null;
  /** Causes the fault for streams that have begun. */
  readonly happen?: (streams: readonly ClientRequest[]) => void;
  readonly after?: () => Promise<void>;
}

async function main(): Promise<void> {
  const folder = await temporaryFolder();
  const server = await startEmbeddedPostgres({ folder: join(folder, 'postgres') });
  const snapshots = join(folder, 'heap');
  mkdirSync(snapshots);
  const engine = await faultyEngine();
  makeModel(join(folder, 'models', 'model'));
  const env = {
    NODE_OPTIONS: snapshotsIn(snapshots),
    SERVICE_MASTER_KEY: masterKey,
    SERVICE_MODELS_DIR: join(folder, 'models'),
    SERVICE_SERVING_THREADS: '1',
    SERVICE_INFERENCE_TIMEOUT_S: String(TIMEOUT_S),
    SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host,
    SERVICE_RUNTIME_KEY_FAULTY: 'sk-faulty',
  };
  const service = await Service.start({ alone: 'its memory', databaseUrl: server.url, dataDir: folder, env });
  try {
    const { token, apiKey } = await register(service, 'Ada');
    const here = () => readyProject(service, token, { runtime: 'onnx', path: 'model' });
    const elsewhere = (model: string) => {
      const spec = { runtime: 'openai', base_url: engine.url, model, key_setting: 'SERVICE_RUNTIME_KEY_FAULTY' };
      return readyProject(service, token, spec);
    };
    const [slow, left, killed] = [await here(), await here(), await here()];
    const [, , worker = 0] = descendants(service.pid);
    const others = descendants(service.pid).filter((pid) => pid !== worker);
    const kill = () => {
      for (const pid of descendants(service.pid)) if (!others.includes(pid)) process.kill(pid, 'SIGKILL');
    };
    const restart = async () => {
      await service.post(`/v1/projects/${killed}/runtime/start`, token);
      await untilState(service, token, killed, 'ready');
    };
    const stop = (streams: readonly ClientRequest[]) => {
      for (const stream of streams) stream.destroy();
    };
    const unread = { last: null, maxTokens: 16 };
    const faults: Fault[] = [
      { name: 'the reader stops; ONNX', project: slow, ends: 'succeeded', ...unread },
      {
        name: 'the reader stops; elsewhere',
        project: await elsewhere('long'),
        ends: 'failed inference_timeout',
        ...unread,
      },
      { name: 'the caller aborts; ONNX', project: left, ends: 'cancelled', happen: stop, last: null, maxTokens: 500 },
      {
        name: 'the caller aborts; elsewhere',
        project: await elsewhere('endless'),
        ends: 'cancelled',
        happen: stop,
        ...unread,
      },
      {
        name: 'the upstream is cut',
        project: await elsewhere('cut'),
        ends: 'failed runtime_unavailable',
        last: 'runtime_unavailable',
        maxTokens: 16,
      },
      {
        name: 'the child is killed',
        project: killed,
        ends: 'failed runtime_unavailable',
        last: 'runtime_unavailable',
        maxTokens: 500,
        happen: kill,
        after: restart,
      },
    ];

    const sent = new Map<Fault, number>();
    const lasts = new Map<Fault, Map<string, number>>();
    const wave = async (fault: Fault, size: number) => {
      const { project: model, maxTokens: max_tokens, happen, after, last } = fault;
      const question = { messages: [{ role: 'user', content: 'Count.' }], max_tokens };
      const streams = Array.from({ length: size }, () =>
        send({ url: service.url, apiKey, model }, question).on('error', () => undefined),
      );
      const responses = await Promise.all(streams.map(untilFirstText));
      happen?.(streams);
      if (last !== null) {
        for (const how of await Promise.all(responses.map(lastOf))) {
          const seen = lasts.get(fault) ?? new Map();
          lasts.set(fault, seen.set(how, (seen.get(how) ?? 0) + 1));
        }
      }
      const all = (sent.get(fault) ?? 0) + size;
      sent.set(fault, all);
      await until(
        () => `the jobs of "${fault.name}" are over`,
        async () => {
          const ends = [...(await endsOf(server.url, model))].filter(([how]) => !/^(queued|running)/.test(how));
          return ends.reduce((sum, [, n]) => sum + n, 0) >= all;
        },
        50,
      );
      stop(streams);
      await after?.();
    };

    const rests: Rest[] = [];
    const heaps: number[] = [];
    const begunAt = performance.now();
    for (let round = 1; round <= ROUNDS; round++) {
      for (const fault of faults) {
        for (let left = Math.ceil(TIMES / ROUNDS); left > 0; left -= AT_ONCE)
          await wave(fault, Math.min(left, AT_ONCE));
      }
      if (round === 1 || round === ROUNDS) {
        await pause(REST_MS);
        heaps.push(await heapMb(service, snapshots));
      }
      rests.push(await atRest(service, engine));
      console.log(`round ${round}: ${JSON.stringify(rests.at(-1))}`);
    }
    console.log(`${((performance.now() - begunAt) / 1_000).toFixed(0)} s`);
    for (const fault of faults) {
      const ends = await endsOf(server.url, fault.project);
      const counts = (of: Map<string, number> = new Map()) => [...of].map(([how, n]) => `${n} ${how}`).join(', ');
      judge(`${fault.name}: jobs: ${counts(ends)}`, ends.get(fault.ends) === sent.get(fault) && ends.size === 1);
      if (fault.last === null) continue;
      const seen = lasts.get(fault);
      judge(`${fault.name}: callers read last: ${counts(seen)}`, seen?.get(fault.last) === sent.get(fault));
    }
    const [heap = 0, heapAtEnd = 0] = heaps;
    judge(`heap: ${heap} MB after the first round, ${heapAtEnd} at the end`, heapAtEnd <= heap * MOST_GROWTH);
    judgeRest(rests);
  } finally {
    await service.stop();
    await server.stop();
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface BegunStream {
  readonly response: IncomingMessage;
  readonly seen: string;
}

const lastOf = ({ response, seen }: BegunStream): Promise<string> => endOf(response, seen).catch((error) => error.code);

/** Reads a stream until its first text has arrived. */
async function untilFirstText(stream: ClientRequest): Promise<BegunStream> {
  const [response] = (await once(stream, 'response')) as [IncomingMessage];
  let seen = '';
  while (!/"content":"[^"]/.test(seen)) {
    await once(response, 'readable');
    const piece: Buffer | null = response.read();
    if (piece) seen += piece.toString();
    if (response.readableEnded) throw new Error(`no text came: ${response.statusCode} ${seen}`);
  }
  return { response, seen };
}

function judgeRest(rests: readonly Rest[]): void {
  const [first, last] = [rests[0], rests.at(-1)] as [Rest, Rest];
  const third = Math.ceil(rests.length / 3);
  // Round 1 warms up.
  const [early, late] = [rests.slice(1, 1 + third), rests.slice(-third)].map((some) =>
    Math.min(...some.map(({ workersMb }) => workersMb)),
  ) as [number, number];
  judge(`chat workers: minimum ${early} MB in the first rounds, ${late} in the last`, late <= early * MOST_GROWTH);
  judge(`descriptors: ${first.descriptors}, then ${last.descriptors}`, last.descriptors <= first.descriptors + 2);
  judge(`children: ${first.children}, then ${last.children}`, last.children === first.children);
  judge(`calls that wait or run: ${last.calls}`, last.calls === 0);
  judge(`connections to the engine elsewhere: ${first.upstream}, then ${last.upstream}`, last.upstream <= AT_ONCE);
}

function judge(statement: string, ok: boolean): void {
  console.log(`${ok ? 'met   ' : 'missed'} ${statement}`);
}

void main();
