import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout } from 'node:timers/promises';
import { injectable } from 'inversify';
import { v7 } from 'uuid';
import {
  type Clock,
  type IdGenerator,
  type IdKind,
  type RequestContext,
  type Span,
  Tracer,
} from '../../application/shared/ports.js';

/** Holds all values in one storage, because Node.js before version 24 copies the value of each storage to promises. */
const storage = new AsyncLocalStorage<Readonly<Record<symbol, unknown>>>();

/** Holds a value for the running code. The code has the same value after each `await`. */
export class AsyncValue<T> {
  private readonly key = Symbol();

  get current(): T | undefined {
    return storage.getStore()?.[this.key] as T | undefined;
  }

  /** Runs `work` with this value. Does not change the values of other `AsyncValue`s. */
  run<R>(value: T, work: () => R): R {
    return storage.run({ ...storage.getStore(), [this.key]: value }, work);
  }
}

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

@injectable()
export class UuidIdGenerator implements IdGenerator {
  next(kind: IdKind): string {
    return `${kind}${kind === 'chatcmpl' ? '-' : '_'}${v7()}`;
  }
}

@injectable()
export class AsyncRequestContext implements RequestContext {
  private readonly request = new AsyncValue<string>();

  get id(): string | null {
    return this.request.current ?? null;
  }

  within<T>(id: string, work: () => T): T {
    return this.request.run(id, work);
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
