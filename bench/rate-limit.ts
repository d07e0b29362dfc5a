import { Service } from '../tests/support/service.js';
import { password, register } from '../tests/support/workspace.js';
import { CREDENTIAL } from './callers.js';
import { Stage } from './peers.js';
import { type Compared, compare, medianOf, ratio, type Target, told, wanted } from './rounds.js';

/**
 * Compares the calls a second of a service that counts rate limits in memory with those of one that counts them in the
 * database. First many callers call, each about once a second under the usual limit. Then a few call as fast as they
 * can. A second service that counts in memory tells how much the figures differ by chance. With more than one instance,
 * each service consists of so many, and each caller goes around them.
 * `npm run bench:rate-limit [rounds] [many callers] [instances]`
 */
const ROUNDS = Number(process.argv[2] ?? 7);
const MANY = Number(process.argv[3] ?? 2_000);
const INSTANCES = Number(process.argv[4] ?? 1);
const FEW = 32;
const CALLERS = 32;
const MOST_COST = 1.05;

const STORES = { memory: 'memory', again: 'memory', database: 'database' } as const;

/** Logs in so often. Each session is a caller with a limit of its own. */
async function sessions(service: Service, count: number): Promise<string[]> {
  const tokens: string[] = [];
  const json = { email: 'ada@example.com', password };
  const caller = async () => {
    while (tokens.length < count) tokens.push((await service.post('/v1/auth/login', undefined, json)).body.token);
  };
  await Promise.all(Array.from({ length: 8 }, caller));
  return tokens.slice(0, count);
}

/** All services have the same database, so that it holds equally much for each of them. */
async function measured(stage: Stage, name: string, count: number, limit: number): Promise<Compared> {
  const databaseUrl = await stage.database(name);
  const targets: Target[] = [];
  const services: Service[] = [];
  const setUp = await Service.start({ databaseUrl });
  try {
    await register(setUp, 'Ada');
    const credentials = await sessions(setUp, count);
    for (const [target, store] of Object.entries(STORES)) {
      const env = {
        SERVICE_SECRET: 'one-secret-so-that-instances-count-together',
        SERVICE_RATE_LIMIT_STORE: store,
        SERVICE_RATE_LIMIT_PER_MIN: String(limit),
      };
      const instances: Service[] = [];
      for (let nth = 0; nth < INSTANCES; nth++) instances.push(await Service.start({ databaseUrl, env }));
      services.push(...instances);
      const [{ url, pid }, ...others] = instances as [Service, ...Service[]];
      const headers = { authorization: `Bearer ${CREDENTIAL}` };
      targets.push({ name: target, url: `${url}/v1/auth/me`, headers, credentials, pid, others });
    }
    console.log(`\n${count} callers, each with ${limit} calls a minute, ${INSTANCES} instances`);
    return await compare(targets, { rounds: ROUNDS, callers: CALLERS, postgres: stage.postgres });
  } finally {
    await Promise.all([setUp, ...services].map((one) => one.stop()));
  }
}

/** Returns the processor time of the service and of PostgreSQL in the best round, which other work disturbs least. */
const processorOf = ({ processor, database }: Compared, name: string): number =>
  Math.min(...(processor[name] ?? []).map((own, round) => own + (database[name]?.[round] ?? 0)));

function judged(compared: Compared): void {
  const { rates, times } = compared;
  const [memory, again, database] = Object.keys(STORES).map((name) => processorOf(compared, name)) as number[];
  wanted('calls a second, memory / database', medianOf(rates.memory, rates.database, ratio), 'at most', MOST_COST);
  told('calls a second, memory / memory', medianOf(rates.memory, rates.again, ratio));
  told('processor time of a call, database / memory', ratio(database as number, memory as number));
  told('processor time of a call, memory / memory', ratio(again as number, memory as number));
  told('time of a call by one caller alone, database / memory', medianOf(times.database, times.memory, ratio));
}

async function main(): Promise<void> {
  const stage = await Stage.open();
  try {
    judged(await measured(stage, 'many', MANY, 120));
    judged(await measured(stage, 'few', FEW, 12_000));
  } finally {
    await stage.close();
  }
}

void main();
