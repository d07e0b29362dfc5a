import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout } from 'node:timers/promises';
import { injectable } from 'inversify';
import { v7 } from 'uuid';
import type { ServiceProcess } from '../../application/operations/ports.js';
import type { IdKind } from '../../application/shared/id-kind.js';
import {
  type Chance,
  type Clock,
  type IdGenerator,
  type RequestContext,
  type Span,
  Tracer,
} from '../../application/shared/ports.js';

@injectable()
export class SystemClock implements Clock {
  now(): Date {
    return new Date();
  }

  pause(milliseconds: number, signal: AbortSignal): Promise<void> {
    return setTimeout(milliseconds, undefined, { signal }).catch(() => {
      throw signal.reason;
    });
  }
}

export class NodeProcess implements ServiceProcess {
  constructor(readonly version: string) {}

  memoryBytes(): number {
    return process.memoryUsage.rss();
  }
}

@injectable()
export class UuidIdGenerator implements IdGenerator {
  next(kind: IdKind): string {
    return `${kind}${kind.endsWith('cmpl') ? '-' : '_'}${v7()}`;
  }
}

@injectable()
export class SystemChance implements Chance {
  draw(): number {
    return Math.random();
  }
}

/** All objects of `AsyncRequestContext` share it, because the log, which names the request, exists before the container. */
const requests = new AsyncLocalStorage<string>();

@injectable()
export class AsyncRequestContext implements RequestContext {
  get id(): string | null {
    return requests.getStore() ?? null;
  }

  within<T>(id: string, work: () => T): T {
    return requests.run(id, work);
  }
}

/** A span that records nothing. */
export const NO_SPAN: Span = {
  isRecorded: false,
  run: (work) => work(),
  set: () => undefined,
  add: () => undefined,
  end: () => undefined,
};

const NO_HEADERS = Object.freeze({});

export class NoTracer extends Tracer {
  start(): Span {
    return NO_SPAN;
  }

  headers(): Readonly<Record<string, string>> {
    return NO_HEADERS;
  }
}
