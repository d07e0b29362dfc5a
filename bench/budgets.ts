import { Service } from '../tests/support/service.js';
import {
  ask,
  completions,
  type Member,
  moveToOwnTeam,
  ownTeam,
  readyProject,
  register,
} from '../tests/support/workspace.js';
import { Stage } from './peers.js';
import { compare, medianOf, ratio, type Target, told, wanted } from './rounds.js';

const ROUNDS = Number(process.argv[2] ?? 5);
const CALLERS = 32;

const BUDGETS = [
  { unit: 'cost', period: 'month' },
  { unit: 'tokens', period: 'day' },
  { unit: 'calls', period: 'hour' },
] as const;

async function budget(service: Service, { token }: Member, about: object): Promise<string> {
  const { status, body } = await service.post('/v1/budgets', token, about);
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.id;
}

/** Makes teams with different numbers of budgets, each with a project of its own for the same engine. */
async function speed(stage: Stage): Promise<void> {
  const engine = await stage.fork<number>('instant-engine.js');
  const host = `127.0.0.1:${engine.message}`;
  const databaseUrl = await stage.database('speed');
  const service = await Service.start({ databaseUrl, env: { SERVICE_RUNTIME_ALLOWED_HOSTS: host } });
  try {
    const spec = { runtime: 'openai', base_url: `http://${host}/v1`, model: 'm', prices: { input: 0.15, output: 0.6 } };
    const targets: Target[] = [];
    for (const [name, count] of [
      ['none', 0],
      ['one', 1],
      ['three', 3],
    ] as const) {
      const member = await register(service, name);
      await moveToOwnTeam(databaseUrl, member.id);
      const project = await readyProject(service, member.token, spec);
      for (const about of BUDGETS.slice(0, count))
        await budget(service, member, { scope: 'team', scope_id: ownTeam(member.id), limit: 1_000_000_000, ...about });
      const body = JSON.stringify(ask(project, 'What is the capital of France?', { max_tokens: 64 }));
      const headers = { authorization: `Bearer ${member.apiKey}` };
      targets.push({ name, url: service.url + completions(project), headers, body, pid: service.pid });
    }
    const { rates, processor } = await compare(targets, { rounds: ROUNDS, callers: CALLERS, postgres: stage.postgres });
    wanted('calls a second, one budget / none', medianOf(rates.one, rates.none, ratio), 'at least', 0.85);
    wanted('calls a second, three budgets / none', medianOf(rates.three, rates.none, ratio), 'at least', 0.7);
    told('processor time, one budget / none', medianOf(processor.one, processor.none, ratio));
  } finally {
    await service.stop();
  }
}

async function main(): Promise<void> {
  const stage = await Stage.open();
  try {
    await speed(stage);
  } finally {
    await stage.close();
  }
}

void main();
