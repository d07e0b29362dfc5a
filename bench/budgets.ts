import { ScriptedEngine } from '../tests/support/scripted-engine.js';
import { Service, temporaryFolder } from '../tests/support/service.js';
import { readyProject, register, untilState } from '../tests/support/workspace.js';
import { races } from './budgets/races.js';
import { sums } from './budgets/sums.js';
import { Stage } from './peers.js';
import { compare, medianOf, ratio, type Target, told, wanted } from './rounds.js';
import { chatsOf } from './targets.js';

/**
 * Races calls on three instances against budgets, adds up random calls to nine decimal places, and compares the calls a
 * second of teams with no, one and three budgets. `npm run bench:budgets [rounds] [random calls]`
 */
const ROUNDS = Number(process.argv[2] ?? 7);
const RANDOM_CALLS = Number(process.argv[3] ?? 100_000);
const CALLERS = 32;
const INSTANCES = 3;

const BUDGETS = [
  { unit: 'cost', period: 'month' },
  { unit: 'tokens', period: 'day' },
  { unit: 'calls', period: 'hour' },
] as const;

/** The teams and the numbers of their budgets. The two teams without any tell how much the figures differ by chance. */
const TEAMS = { none: 0, again: 0, one: 1, three: 3 };

/** Each team has a project of its own for the same engine. */
async function speed(stage: Stage): Promise<void> {
  const engine = await stage.fork<number>('instant-engine.js');
  const host = `127.0.0.1:${engine.message}`;
  const databaseUrl = await stage.database('speed');
  const env = { SERVICE_RUNTIME_ALLOWED_HOSTS: host, SERVICE_MAX_ACCOUNTS: '9' };
  const service = await Service.start({ databaseUrl, env });
  try {
    const question = 'What is the capital of France?';
    const targets: Target[] = [];
    for (const [name, count] of Object.entries(TEAMS))
      targets.push(await chatsOf({ service, databaseUrl, host }, { name, question, budgets: BUDGETS.slice(0, count) }));
    const { rates } = await compare(targets, { rounds: ROUNDS, callers: CALLERS, postgres: stage.postgres });
    wanted('calls a second, one budget / none', medianOf(rates.one, rates.none, ratio), 'at least', 0.85);
    wanted('calls a second, three budgets / none', medianOf(rates.three, rates.none, ratio), 'at least', 0.7);
    told('calls a second, none / none', medianOf(rates.again, rates.none, ratio));
  } finally {
    await service.stop();
  }
}

async function promises(stage: Stage): Promise<void> {
  const engine = await ScriptedEngine.start();
  const databaseUrl = await stage.database('promises');
  const dataDir = await temporaryFolder();
  const instances: Service[] = [];
  try {
    for (let nth = 0; nth < INSTANCES; nth++) {
      const env = { SERVICE_INSTANCE_NAME: `instance-${nth}`, SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host };
      instances.push(await Service.start({ alone: 'it is one of three', databaseUrl, dataDir, env }));
    }
    const [first] = instances as [Service];
    const admin = await register(first, 'Ada');
    const priced = async () => {
      const prices = { input: 0, output: 1_000_000 };
      const spec = { runtime: 'openai', base_url: engine.url, model: 'm', prices };
      const project = await readyProject(first, admin.token, spec);
      for (const one of instances) await untilState(one, admin.token, project, 'ready');
      return project;
    };
    await sums(first, databaseUrl, admin, RANDOM_CALLS);
    await races({ instances, engine, admin, priced });
  } finally {
    await Promise.all(instances.map((one) => one.stop()));
    await engine.close();
  }
}

async function main(): Promise<void> {
  const stage = await Stage.open();
  try {
    await promises(stage);
    await speed(stage);
  } finally {
    await stage.close();
  }
}

void main();
