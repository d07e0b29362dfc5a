import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { Call, Measured, Round } from './callers.js';
import type { Started } from './peers.js';
import { processorMs } from './processor-time.js';

const ROUND_MS = 2_000;

/** A server and the call to measure. */
export interface Target {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body of a POST. Without a body the method is GET. In each call, another number replaces `SERIAL`. */
  readonly body?: string;
  /** They replace `CREDENTIAL` in turns. */
  readonly credentials?: readonly string[];
  /** The process of the server. Its processor time is measured, with that of its children. */
  readonly pid?: number;
  /** Further instances. Each caller goes around all of them. Their processor time counts, too. */
  readonly others?: readonly Started[];
  /** Ends a measurement after so many calls. */
  readonly most?: number;
  /** Runs before each measurement. */
  readonly prepare?: () => Promise<unknown>;
}

export interface Options {
  readonly rounds: number;
  /** The number of callers at the same time. */
  readonly callers: number;
  /** A single caller calls the targets in turns, so that each has been idle before its call. */
  readonly inTurns?: boolean;
  /** The process of PostgreSQL. Its processor time is measured for each target. */
  readonly postgres?: number;
}

/** The figures of each round, by the names of the targets. */
export interface Compared {
  /** The median time of a call by one caller alone, in milliseconds. */
  readonly times: Readonly<Record<string, readonly number[]>>;
  /** Calls a second by many callers. */
  readonly rates: Readonly<Record<string, readonly number[]>>;
  /** The server's processor time of a call by one of many callers, in microseconds. */
  readonly processor: Readonly<Record<string, readonly number[]>>;
  /** The same of PostgreSQL. */
  readonly database: Readonly<Record<string, readonly number[]>>;
}

/**
 * Calls the targets in rounds and prints the medians. The first round warms up. In each round one caller calls a target
 * repeatedly, then many callers do. The processor time is that of the calls of many callers.
 */
export async function compare(
  targets: readonly Target[],
  { rounds, callers, inTurns = false, postgres }: Options,
): Promise<Compared> {
  const client = fork(join(__dirname, 'callers.js'));
  const series = () => Object.fromEntries(targets.map(({ name }): [string, number[]] => [name, []]));
  const [times, rates, processor, database] = [series(), series(), series(), series()];
  for (let round = 0; round <= rounds; round++) {
    const turns = inTurns ? (await measured(client, targets, 1)).times : null;
    for (const [at, target] of targets.entries()) {
      const alone = turns?.[at] ?? (await measured(client, [target], 1)).times.flat();
      await target.prepare?.();
      const pids = [target.pid, ...(target.others ?? []).map(({ pid }) => pid)];
      const spent = () => [sumOf(pids.map(processorMs)), processorMs(postgres)];
      const before = spent();
      const together = await measured(client, [target], callers);
      const used = spent().map((ms, n) => ms - (before[n] as number));
      if (round === 0) continue;
      const perCall = used.map((ms) => (1_000 * ms) / together.times.flat().length) as [number, number];
      times[target.name]?.push(median(alone));
      rates[target.name]?.push(together.perSecond);
      processor[target.name]?.push(perCall[0]);
      database[target.name]?.push(perCall[1]);
    }
  }
  client.disconnect();
  console.log(`Node ${process.version}, ${cpus().length} processors, ${rounds} rounds`);
  for (const { name } of targets) {
    const [time, rate, own, its] = [times, rates, processor, database].map((of) => median(of[name] ?? [])) as number[];
    const cells = [
      `p50 ${time?.toFixed(2)} ms alone`,
      `${rate?.toFixed(0)}/s with ${callers} callers`,
      own && `${own.toFixed(0)} µs of processor`,
      its && `${its.toFixed(0)} µs in PostgreSQL`,
    ];
    console.log(`${name.padEnd(12)} ${cells.filter(Boolean).join(', ')}`);
  }
  return { times, rates, processor, database };
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0);

/** Lets the process of `callers.js` call the targets, and returns its measurements. */
async function measured(client: ChildProcess, targets: readonly Target[], callers: number): Promise<Measured> {
  if (callers === 1) for (const { prepare } of targets) await prepare?.();
  const most = targets[0]?.most ?? Number.MAX_SAFE_INTEGER;
  client.send({ calls: targets.map(callTo), callers, ms: ROUND_MS * targets.length, most } satisfies Round);
  const [result] = (await once(client, 'message')) as [Measured];
  if (result.failure !== null) throw new Error(`${targets.map(({ name }) => name)}: ${result.failure}`);
  return result;
}

function callTo({ url, others = [], headers, body, credentials }: Target): Call {
  const { port, pathname } = new URL(url);
  const sent = {
    Host: `127.0.0.1:${port}`,
    ...(body !== undefined && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
    ...headers,
  };
  const line = `${body === undefined ? 'GET' : 'POST'} ${pathname} HTTP/1.1`;
  const head = [line, ...Object.entries(sent).map(([name, value]) => `${name}: ${value}`)];
  return {
    port: Number(port),
    others: others.map((one) => Number(new URL(one.url).port)),
    request: `${head.join('\r\n')}\r\n\r\n${body ?? ''}`,
    credentials,
  };
}

/** Prints a figure. */
export function told(about: string, value: number, unit = ''): void {
  console.log(`       ${about}: ${shown(value)}${unit}`);
}

/** Prints a figure beside the one that is wanted. */
export function wanted(about: string, value: number, bound: 'at least' | 'at most', limit: number, unit = ''): boolean {
  const met = bound === 'at least' ? value >= limit : value <= limit;
  console.log(`${met ? 'met   ' : 'missed'} ${about}: ${shown(value)}${unit}, ${bound} ${limit}${unit} is wanted`);
  return met;
}

const shown = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(2));

/** Relates the figures of `a` and `b` in each round. Returns the median. */
export const medianOf = (
  a: readonly number[] = [],
  b: readonly number[] = [],
  relate: (a: number, b: number) => number,
): number => median(a.slice(0, b.length).map((one, round) => relate(one, b[round] as number)));

export const ratio = (a: number, b: number): number => a / b;
export const difference = (a: number, b: number): number => a - b;

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
