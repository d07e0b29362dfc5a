import { Client } from 'pg';
import { Service } from '../tests/support/service.js';
import { ask, completions, createProject, readyProject, register } from '../tests/support/workspace.js';
import { addExpired, fillCalls, names } from './calls/fill.js';
import { Stage } from './peers.js';
import { processorMs } from './processor-time.js';
import { percentile, told, wanted } from './rounds.js';

/**
 * Lists and searches the calls of a project that keeps a million of them, with each filter, and measures the calls of
 * the service while 100,000 calls expire. `npm run bench:calls [calls]`
 */
const CALLS = Number(process.argv[2] ?? 1_200_000);
const EXPIRED = Math.min(100_000, Math.floor(CALLS / 8));
const ROUNDS = 40;
const MOST_MS = 150;
const CALLERS = 4;

async function main(): Promise<void> {
  const stage = await Stage.open();
  const url = await stage.database('calls');
  const engine = await stage.fork<number>('instant-engine.js');
  const env = {
    SERVICE_RATE_LIMIT_PER_MIN: '1000000',
    SERVICE_MAX_ACCOUNTS: '3',
    SERVICE_RUNTIME_ALLOWED_HOSTS: `127.0.0.1:${engine.message}`,
  };
  const service = await Service.start({ databaseUrl: url, env });
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const [admin, colleague] = [await register(service, 'Ada'), await register(service, 'Mia')];
    const { rows } = await client.query('SELECT team_id FROM accounts WHERE id = $1', [admin.id]);
    const [projectId, otherProjectId] = [
      await createProject(service, admin.token),
      await createProject(service, admin.token),
    ];
    const fill = { teamId: rows[0].team_id, projectId, otherProjectId, accountId: admin.id, calls: CALLS };
    const begun = performance.now();
    await fillCalls(url, { ...fill, colleagueId: colleague.id });
    told('seconds to fill', (performance.now() - begun) / 1000);
    const timed = async (path: string): Promise<[number, number]> => {
      const at = performance.now();
      const { status, body } = await service.get(path, admin.token);
      if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
      return [performance.now() - at, body.count];
    };
    for (const [name, path] of Object.entries(await pathsOf(projectId, colleague.id, client))) {
      const times: number[] = [];
      let count = 0;
      const before = processorMs(stage.postgres);
      for (let round = 0; round < ROUNDS; round++) {
        const [ms, found] = await timed(path(round));
        times.push(ms);
        count = found;
      }
      const used = ((processorMs(stage.postgres) - before) / ROUNDS).toFixed(1);
      wanted(
        `${name} (${count} found, ${used} ms of processor in PostgreSQL), p95`,
        percentile(times, 0.95),
        'at most',
        MOST_MS,
        ' ms',
      );
    }
    const spec = { runtime: 'openai', base_url: `http://127.0.0.1:${engine.message}/v1`, model: 'm' };
    const called = await readyProject(service, admin.token, spec);
    await service.put(`/v1/projects/${called}`, admin.token, {
      version: 1,
      name: 'Called',
      spec: { record: { content: 'full' } },
    });
    await retention({ service, client, url, token: admin.token, called, of: otherProjectId });
    await deletion(service, admin.token, client, otherProjectId);
  } finally {
    await client.end();
    await service.stop();
    await stage.close();
  }
}

async function pathsOf(projectId: string, colleague: string, client: Client) {
  const at = (filters: string) => `/v1/projects/${projectId}/calls?limit=50${filters}`;
  const fixed = (filters: string) => () => at(filters);
  const { rows } = await client.query<{ place: string }>(
    `SELECT floor(extract(epoch FROM date_trunc('milliseconds', created_at)) * 1000)::bigint || '.' || id AS place FROM calls
      TABLESAMPLE SYSTEM (0.5) WHERE project_id = $1 LIMIT 100`,
    [projectId],
  );
  const places = rows.map(({ place }) => place);
  const deep = (filters: string) => (round: number) => at(`${filters}&cursor=${places[round % places.length]}`);
  const day = (ago: number) => Math.floor(Date.now() / 1000 - ago * 86_400);
  const longAgo = `&since=${day(25)}&until=${day(24)}`;
  return {
    'the newest': fixed(''),
    'a deep page': deep(''),
    'a time long ago': fixed(longAgo),
    'a common model': fixed(`&model_id=${names.oftenModel}`),
    'a rare model': fixed(`&model_id=${names.rareModel}`),
    'a common key': fixed(`&key_id=${names.oftenKey}`),
    'a rare key': fixed(`&key_id=${names.rareKey}`),
    'a rare account': fixed(`&account_id=${colleague}`),
    succeeded: fixed('&status=succeeded'),
    failed: fixed('&status=failed'),
    cancelled: fixed('&status=cancelled'),
    'failed, long ago': fixed(`&status=failed${longAgo}`),
    'a common score': fixed('&score=1'),
    'a common score, a deep page': deep('&score=1'),
    'a rare score': fixed('&score=-1'),
    'a common label': fixed('&label=helpful'),
    'a rare label': fixed('&label=wrong'),
    'a score and a label': fixed('&score=-1&label=helpful'),
    'a common word': fixed('&q=half'),
    'a common word, a deep page': deep('&q=half'),
    'a common word, long ago': fixed(`&q=half${longAgo}`),
    'a frequent word': fixed('&q=word20'),
    'a less frequent word': fixed('&q=word9000'),
    'a rare word': fixed('&q=rarely'),
    'a word of the past': fixed('&q=early'),
    'a word of another project': fixed('&q=foreign'),
    'an unknown word': fixed('&q=nowhere'),
    'two common words': fixed('&q=half%20early'),
    'a common and a rare word': fixed('&q=half%20rarely'),
    'a number in an answer': (round: number) => at(`&q=${(round * 37) % 5000}`),
    'a common word, a rare model': fixed(`&q=answer&model_id=${names.rareModel}`),
    'a common word, a rare score': fixed('&q=answer&score=-1'),
  };
}

interface Retention {
  readonly service: Service;
  readonly client: Client;
  readonly url: string;
  readonly token: string;
  /** The project that is called meanwhile. */
  readonly called: string;
  readonly of: string;
}

/** Measures calls without and with a retention beside them. */
async function retention({ service, client, url, token, called, of }: Retention): Promise<void> {
  const callsUntil = async (isOver: () => boolean): Promise<number[]> => {
    const times: number[] = [];
    const caller = async () => {
      while (!isOver()) {
        const at = performance.now();
        const { status, body } = await service.post(completions(called), token, ask(called, 'What is the capital?'));
        if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
        times.push(performance.now() - at);
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
    return times;
  };
  const end = performance.now() + 10_000;
  told('p95 of a call, nothing expires', percentile(await callsUntil(() => performance.now() > end), 0.95), ' ms');
  await addExpired(url, of, EXPIRED);
  const begun = performance.now();
  let isGone = false;
  const calls = callsUntil(() => isGone);
  const left = async () =>
    (await client.query('SELECT count(*)::integer AS count FROM calls WHERE expires_at < now()')).rows[0].count;
  while ((await left()) > 0) await new Promise((resolve) => setTimeout(resolve, 200));
  const seconds = (performance.now() - begun) / 1000;
  isGone = true;
  told('p95 of a call, while calls expire', percentile(await calls, 0.95), ' ms');
  wanted(`seconds until ${EXPIRED} expired calls are gone`, seconds, 'at most', 60);
}

/** Measures the deletion of a project that keeps calls. */
async function deletion(service: Service, token: string, client: Client, projectId: string): Promise<void> {
  const { rows } = await client.query('SELECT count(*)::integer AS count FROM calls WHERE project_id = $1', [
    projectId,
  ]);
  const at = performance.now();
  const { status, body } = await service.call('DELETE', `/v1/projects/${projectId}`, { token, json: { version: 1 } });
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  told(`seconds to answer the deletion of a project with ${rows[0].count} calls`, (performance.now() - at) / 1000);
  const left = async () =>
    (await client.query('SELECT FROM calls WHERE project_id = $1 LIMIT 1', [projectId])).rowCount ?? 0;
  while ((await left()) > 0) await new Promise((resolve) => setTimeout(resolve, 200));
  told(`seconds until a deleted project with ${rows[0].count} calls is empty`, (performance.now() - at) / 1000);
}

void main();
