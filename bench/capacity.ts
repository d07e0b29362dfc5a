import { Client } from 'pg';
import { Service } from '../tests/support/service.js';
import { type Station, simulate, type Visit } from './capacity/simulation.js';
import { Stage } from './peers.js';
import { compare, median, type Target } from './rounds.js';
import { chatsOf } from './targets.js';

/**
 * Measures what a chat costs the service and PostgreSQL. Then simulates 10, 100 and 1,000 chats a second, and tells which
 * part of the installation is the first to have too much work. Prints the tables of docs/capacity.md.
 * `npm run bench:capacity [rounds]`
 */
const ROUNDS = Number(process.argv[2] ?? 5);
const CALLERS = 32;
const RATES = [10, 100, 1_000];
const SIMULATED_S = 60;
/** A part that works more than this is too small, because the waits grow fast. */
const MOST_USED = 0.7;
const STORED_CALLS = 2_000;

/** The engine of the simulation: 64 calls at once, each for some 4 s with 200 chunks. */
const ENGINE = { calls: 64, seconds: 4, chunks: 200 };
/** A processor of PostgreSQL that only does this. */
const POSTGRES = 2;

const kinds = {
  whole: {},
  budget: { budgets: [{ unit: 'cost', period: 'month' }] },
  content: { record: { content: 'full' } },
  stream: { stream: true },
} as const;
type Kind = keyof typeof kinds;

/** The costs of a call. */
interface Cost {
  /** Seconds of the event loop of an instance. */
  readonly instance: number;
  /** Seconds of a processor of PostgreSQL. */
  readonly postgres: number;
  readonly walBytes: number;
  readonly storedBytes: number;
}

async function costs(): Promise<Record<Kind, Cost>> {
  const stage = await Stage.open();
  const engine = await stage.fork<number>('instant-engine.js');
  const host = `127.0.0.1:${engine.message}`;
  const databaseUrl = await stage.database('capacity');
  const env = { SERVICE_RUNTIME_ALLOWED_HOSTS: host, SERVICE_MAX_ACCOUNTS: '9' };
  const service = await Service.start({ databaseUrl, env });
  const client = new Client(databaseUrl);
  try {
    await client.connect();
    const targets: Target[] = [];
    for (const [name, about] of Object.entries(kinds))
      targets.push(
        await chatsOf({ service, databaseUrl, host }, { name, question: 'What is the capital of France?', ...about }),
      );
    const options = { rounds: ROUNDS, callers: CALLERS, postgres: stage.postgres };
    const { processor, database } = await compare(targets, options);
    const all = [];
    for (const target of targets) {
      const [instance, postgres] = [processor, database].map((of) => median(of[target.name] ?? []) / 1e6);
      all.push([target.name, { instance, postgres, ...(await stored(client, target)) }]);
    }
    return Object.fromEntries(all);
  } finally {
    await client.end();
    await service.stop();
    await stage.close();
  }
}

/** Measures what the calls of a target leave in the database. */
async function stored(client: Client, { url, headers, body }: Target) {
  const read = async (what: string) => Number((await client.query(`SELECT ${what} AS bytes`)).rows[0].bytes);
  const wal = () => read("pg_current_wal_lsn() - '0/0'");
  // Without room that earlier rows have left, the size tells what the rows take.
  const size = async () => {
    await client.query('VACUUM FULL');
    return read('pg_database_size(current_database())');
  };
  const [sizeBefore, walBefore] = [await size(), await wal()];
  let left = STORED_CALLS;
  const caller = async () => {
    while (left-- > 0) {
      const init = {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json' },
        ...(body && { body }),
      };
      const answer = await fetch(url, init);
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`a call had the status ${answer.status}`);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  const walBytes = ((await wal()) - walBefore) / STORED_CALLS;
  return { walBytes, storedBytes: ((await size()) - sizeBefore) / STORED_CALLS };
}

interface Size {
  readonly instances: number;
  readonly postgres: number;
  readonly engines: number;
}

const stationsOf = ({ instances, postgres, engines }: Size): Station[] => [
  { name: 'instance', servers: instances },
  { name: 'PostgreSQL', servers: postgres },
  { name: 'engine', servers: engines * ENGINE.calls },
];

/** A stream: most of the work of its instance is beside the engine. */
function visitsOf({ whole, stream }: Record<Kind, Cost>): Visit[] {
  const chunks = Math.max(0, stream.instance - whole.instance);
  const at = (name: string, seconds: number): Visit => ({ at: name, seconds });
  return [
    at('instance', whole.instance / 2),
    at('PostgreSQL', stream.postgres / 2),
    { at: 'engine', seconds: ENGINE.seconds, beside: { at: 'instance', seconds: chunks, parts: 20 } },
    at('PostgreSQL', stream.postgres / 2),
    at('instance', whole.instance / 2),
  ];
}

const needed = (rate: number, seconds: number): number => Math.max(1, Math.ceil((rate * seconds) / MOST_USED));

function sizeFor(rate: number, { stream }: Record<Kind, Cost>): Size {
  const engines = needed(rate, ENGINE.seconds / ENGINE.calls);
  return { instances: needed(rate, stream.instance), postgres: needed(rate, stream.postgres), engines };
}

function row(rate: number, size: Size, cost: Record<Kind, Cost>): string {
  const simulated = simulate({
    stations: stationsOf(size),
    perSecond: rate,
    seconds: SIMULATED_S,
    visits: visitsOf(cost),
  });
  const used = Object.entries(simulated.use).sort(([, a], [, b]) => b - a);
  const [first] = used as [[string, number]];
  const shares = stationsOf(size).map(({ name }) => `${Math.round(100 * (simulated.use[name] ?? 0))} %`);
  const wait =
    simulated.waitP95 < 1 ? `${(1_000 * simulated.waitP95).toFixed(1)} ms` : `${simulated.waitP95.toFixed(0)} s`;
  const cells = [rate, ...Object.values(size), ...shares, wait, first[0]];
  return `| ${cells.join(' | ')} |`;
}

function print(cost: Record<Kind, Cost>): void {
  console.log('\n| A call | Instance | PostgreSQL | WAL | Stored |\n|---|---|---|---|---|');
  const us = (seconds: number) => `${(1e6 * seconds).toFixed(0)} µs`;
  const kb = (bytes: number) => `${(bytes / 1_024).toFixed(1)} KiB`;
  for (const [name, { instance, postgres, walBytes, storedBytes }] of Object.entries(cost))
    console.log(`| ${[name, us(instance), us(postgres), kb(walBytes), kb(storedBytes)].join(' | ')} |`);
  const { stream } = cost;
  console.log('\n| Part | Streams a second at 70 % |\n|---|---|');
  const most = {
    instance: stream.instance,
    'PostgreSQL, for each processor': stream.postgres,
    engine: ENGINE.seconds / ENGINE.calls,
  };
  for (const [name, seconds] of Object.entries(most)) console.log(`| ${name} | ${(MOST_USED / seconds).toFixed(0)} |`);
  const head = [
    'Calls a second',
    'Instances',
    'Processors of PostgreSQL',
    'Engines',
    'Instances work',
    'PostgreSQL works',
    'Engines work',
    'Wait, p95',
    'First bottleneck',
  ];
  for (const title of ['one of each', 'enough of each']) {
    console.log(`\n${title}\n\n| ${head.join(' | ')} |\n|${'---|'.repeat(head.length)}`);
    for (const rate of RATES) {
      const size = title === 'one of each' ? { instances: 1, postgres: POSTGRES, engines: 1 } : sizeFor(rate, cost);
      console.log(row(rate, size, cost));
    }
  }
  const gib = (rate: number) => ((86_400 * rate * stream.storedBytes) / 2 ** 30).toFixed(1);
  console.log(`\nstored in a day: ${RATES.map((rate) => `${gib(rate)} GiB at ${rate} calls a second`).join(', ')}`);
}

void costs().then(print);
