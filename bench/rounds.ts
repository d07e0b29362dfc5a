import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import type { Call, Measured, Round } from './callers.js';

const ROUND_MS = 2_000;

/** A server and the call to measure. */
export interface Target {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Is sent by POST. Without a body the method is GET. */
  readonly body?: string;
}

/** The figures of each round, by the names of the targets. */
export interface Compared {
  /** The median time of a call by one caller alone, in milliseconds. */
  readonly times: Readonly<Record<string, readonly number[]>>;
  /** Calls a second by many callers. */
  readonly rates: Readonly<Record<string, readonly number[]>>;
}

/**
 * Calls the targets in rounds and prints the medians. The first round warms up. In each round one caller calls a target
 * repeatedly, then many callers do. With `inTurns` the single caller calls the targets in turns, so that each has been
 * idle before its call.
 */
export async function compare(
  targets: readonly Target[],
  rounds: number,
  callers: number,
  { inTurns = false } = {},
): Promise<Compared> {
  const process = fork(join(__dirname, 'callers.js'));
  const times: Record<string, number[]> = {};
  const rates: Record<string, number[]> = {};
  for (let round = 0; round <= rounds; round++) {
    const turns = inTurns ? (await measured(process, targets, 1)).times : null;
    for (const [at, target] of targets.entries()) {
      const alone = turns?.[at] ?? (await measured(process, [target], 1)).times.flat();
      const together = await measured(process, [target], callers);
      if (round === 0) continue;
      times[target.name] = [...(times[target.name] ?? []), median(alone)];
      rates[target.name] = [...(rates[target.name] ?? []), together.perSecond];
    }
  }
  process.disconnect();
  for (const { name } of targets) {
    const [time, rate] = [median(times[name] ?? []), median(rates[name] ?? [])];
    console.log(`${name.padEnd(12)} p50 ${time.toFixed(2)} ms alone, ${rate.toFixed(0)}/s with ${callers} callers`);
  }
  return { times, rates };
}

/** Lets the process of `callers.js` call the targets, and returns its measurements. */
export async function measured(
  process: ChildProcess,
  targets: readonly Target[],
  callers: number,
  ms = ROUND_MS * targets.length,
): Promise<Measured> {
  process.send({ calls: targets.map(callTo), callers, ms } satisfies Round);
  const [result] = (await once(process, 'message')) as [Measured];
  if (result.failure !== null) throw new Error(result.failure);
  return result;
}

function callTo({ url, headers, body }: Target): Call {
  const { port, pathname } = new URL(url);
  const sent = {
    Host: `127.0.0.1:${port}`,
    ...(body !== undefined && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
    ...headers,
  };
  const line = `${body === undefined ? 'GET' : 'POST'} ${pathname} HTTP/1.1`;
  const head = [line, ...Object.entries(sent).map(([name, value]) => `${name}: ${value}`)];
  return { port: Number(port), request: `${head.join('\r\n')}\r\n\r\n${body ?? ''}` };
}

/** Relates the figures of `a` and `b` in each round. Returns the median. */
export const medianOf = (
  a: readonly number[] = [],
  b: readonly number[] = [],
  relate: (a: number, b: number) => number,
): number => median(a.slice(0, b.length).map((one, round) => relate(one, b[round] as number)));

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Returns the value that the given share of the values, from 0 to 1, does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

/** Returns the count and the percentiles of the times as text. */
export function figures(times: readonly number[]): string {
  const at = (share: number) => `${percentile(times, share).toFixed(1)} ms`;
  return `n ${times.length}  p50 ${at(0.5)}  p99 ${at(0.99)}  max ${at(1)}`;
}

/** Installs packages into the folder, without their scripts. If that fails, prints it and returns false. */
export function installed(folder: string, ...packages: readonly string[]): boolean {
  try {
    const quietly = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
    execFileSync('npm', ['install', '--prefix', folder, ...quietly, ...packages], { stdio: 'ignore' });
    return true;
  } catch {
    console.log(`${packages.join(', ')} could not be installed: no comparison`);
    return false;
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
