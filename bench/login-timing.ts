import { settings } from '../src/bootstrap/config/settings.js';
import { Service } from '../tests/support/service.js';
import { register } from '../tests/support/workspace.js';
import { wanted } from './rounds.js';

/**
 * Tests whether the time of a refused login differs between an unknown e-mail and a wrong password. Takes samples of
 * both in turns and computes Welch's t. With a low cost of bcrypt, small differences show better.
 * `npm run bench:login-timing [samples] [bcrypt cost]`
 */
const SAMPLES = Number(process.argv[2] ?? 200);
const COST = process.argv[3] ?? String(settings.SERVICE_BCRYPT_COST.fallback);
const LIMIT_T = 3;

async function main(): Promise<void> {
  const service = await Service.start({ databaseUrl: null, env: { SERVICE_BCRYPT_COST: COST } });
  await register(service, 'Ada');
  const refused = async (email: string): Promise<number> => {
    const begun = performance.now();
    const { status } = await service.post('/v1/auth/login', undefined, { email, password: 'a wrong password' });
    if (status !== 401) throw new Error(`the login answered ${status}`);
    return performance.now() - begun;
  };
  const kinds = [
    { about: 'unknown e-mail', email: 'eve@example.com', times: [] as number[] },
    { about: 'wrong password', email: 'ada@example.com', times: [] as number[] },
  ] as const;
  const [unknown, wrong] = kinds;
  for (let warmup = 0; warmup < 10; warmup++) await refused(kinds[warmup % 2]?.email ?? '');
  for (let sample = 0; sample < SAMPLES; sample++) {
    const order = sample % 2 ? [unknown, wrong] : [wrong, unknown]; // neither is always the second
    for (const { email, times } of order) times.push(await refused(email));
  }
  await service.stop();
  for (const { about, times } of kinds) {
    const spread = Math.sqrt(variance(times)).toFixed(3);
    console.log(`${about}   n ${times.length}  mean ${mean(times).toFixed(3)} ms  deviation ${spread} ms`);
  }
  const difference = mean(unknown.times) - mean(wrong.times);
  const t = difference / Math.sqrt(variance(unknown.times) / SAMPLES + variance(wrong.times) / SAMPLES);
  console.log(`difference ${difference.toFixed(3)} ms`);
  wanted("Welch's t of the two times", Math.abs(t), 'at most', LIMIT_T);
}

const mean = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

function variance(numbers: readonly number[]): number {
  const middle = mean(numbers);
  return numbers.reduce((sum, one) => sum + (one - middle) ** 2, 0) / (numbers.length - 1);
}

void main();
