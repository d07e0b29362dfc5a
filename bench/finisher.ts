import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { CallTracker } from '../src/application/jobs/call-tracker.js';
import { loadConfig } from '../src/bootstrap/config/config.js';
import { createContainer } from '../src/bootstrap/container.js';
import { InferenceTimeout } from '../src/domain/chat/errors.js';
import { createDataSource } from '../src/infrastructure/typeorm/data-source.js';
import { MemoryLogger } from '../tests/fakes/shared/memory-logger.js';

export interface FinisherReport {
  /** The milliseconds that each call waited until its end was stored. */
  readonly waits: number[];
  readonly refused: string[];
}

/**
 * Runs as a process: tracks a number of calls a second, each at its planned moment. Three of every ten calls fail, and
 * also the first 20 of every 200 calls.
 */
async function main(): Promise<void> {
  const [url = '', rate = '150', seconds = '10'] = process.argv.slice(2);
  const config = loadConfig({ SERVICE_SECRET: 'secret-of-the-benchmark' });
  const database = await createDataSource(url).initialize();
  const log = new MemoryLogger();
  const container = createContainer({ config, database, logger: log });
  const tracking = container.get(CallTracker);
  const waits: number[] = [];
  const refused: string[] = [];
  const call = async (nth: number) => {
    const { signal } = new AbortController();
    const kind = nth % 2 ? ('chat' as const) : ('prediction' as const);
    const about = {
      by: { kind: 'master' as const },
      kind,
      name: null,
      projectId: null,
      modelId: null,
      pricesOf: () => null,
      guard: null,
      signal,
    };
    const failure = nth % 10 >= 7 || nth % 200 < 20 ? new InferenceTimeout(1) : null;
    let ended = 0;
    const answer = tracking.track(about, async (admitted) => {
      admitted();
      await pause(20);
      ended = performance.now();
      if (failure) throw failure;
    });
    await answer.catch((error: unknown) => {
      if (error !== failure) refused.push(String(error));
    });
    waits.push(performance.now() - ended);
  };
  await call(0);
  waits.length = 0;
  process.send?.('ready');
  await once(process, 'message');
  const calls: Promise<void>[] = [];
  const begun = performance.now();
  for (let nth = 0; nth < Number(rate) * Number(seconds); nth++) {
    const due = begun + (nth * 1000) / Number(rate);
    if (due > performance.now()) await pause(due - performance.now());
    calls.push(call(nth));
  }
  await Promise.all(calls);
  refused.push(...log.lines.filter(({ level }) => level !== 'info').map(({ event }) => event));
  process.send?.({ waits, refused } satisfies FinisherReport);
  await pause(50);
  process.exit(0);
}

void main();
