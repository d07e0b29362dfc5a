import { settings } from '../src/bootstrap/config/settings.js';
import { Service } from '../tests/support/service.js';
import { type Member, password, register } from '../tests/support/workspace.js';
import { figures, percentile } from './rounds.js';

/**
 * Measures GET /v1/auth/me of one account while another account repeats 40 concurrent logins, with the default cost of
 * password hashes. `npm run bench:logins [seconds]`
 */
const SECONDS = Number(process.argv[2] ?? 10);
const AT_ONCE = 40;
const LIMIT_MS = 100;

async function main(): Promise<void> {
  const env = { SERVICE_BCRYPT_COST: String(settings.SERVICE_BCRYPT_COST.fallback) };
  const service = await Service.start({ databaseUrl: null, env });
  const ada = await register(service, 'Ada');
  await register(service, 'Bob');
  await measured(service, ada, 1);
  const idle = await measured(service, ada, 2);
  let running = true;
  let logins = 0;
  const login = async () => {
    const json = { email: 'bob@example.com', password };
    const { status, body } = await service.post('/v1/auth/login', undefined, json);
    if (status !== 200) throw new Error(`${status} ${body.code}: ${body.error}`);
    logins++;
  };
  const bursts = (async () => {
    while (running) await Promise.all(Array.from({ length: AT_ONCE }, login));
  })();
  const busy = await measured(service, ada, SECONDS);
  running = false;
  await bursts;
  await service.stop();
  console.log(`logins ${logins}, ${AT_ONCE} at once`);
  console.log(`/v1/auth/me, idle   ${figures(idle)}`);
  console.log(`/v1/auth/me, busy   ${figures(busy)}`);
  const p99 = percentile(busy, 0.99);
  console.log(`p99 ${p99.toFixed(1)} ms, ${p99 <= LIMIT_MS ? 'within' : 'beyond'} ${LIMIT_MS} ms`);
  if (p99 > LIMIT_MS) process.exitCode = 1;
}

async function measured(service: Service, { token }: Member, seconds: number): Promise<number[]> {
  const times: number[] = [];
  for (const until = performance.now() + seconds * 1000; performance.now() < until; ) {
    const begun = performance.now();
    const { status } = await service.get('/v1/auth/me', token);
    times.push(performance.now() - begun);
    if (status !== 200) throw new Error(`/v1/auth/me answered ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return times;
}

void main();
