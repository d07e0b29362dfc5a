import { setTimeout } from 'node:timers/promises';
import { injectable } from 'inversify';
import { v7 } from 'uuid';
import {
  type Clock,
  type CurrentRequest,
  type Delay,
  type IdGenerator,
  type IdKind,
  type RequestContext,
  type Span,
  Tracer,
} from '../../application/shared/ports.js';
import { AsyncValue } from './async-value.js';

@injectable()
export class SystemClock implements Clock {
  now(): Date {
    return new Date();
  }
}

@injectable()
export class UuidIdGenerator implements IdGenerator {
  next(kind: IdKind): string {
    return `${kind}${kind === 'chatcmpl' ? '-' : '_'}${v7()}`;
  }
}

@injectable()
export class TimedDelay implements Delay {
  take(milliseconds: number, signal: AbortSignal): Promise<void> {
    return setTimeout(milliseconds, undefined, { signal }).catch(() => {
      throw signal.reason;
    });
  }
}

@injectable()
export class AsyncRequestContext implements RequestContext {
  private readonly request = new AsyncValue<CurrentRequest>();

  get id(): string | null {
    return this.request.current?.id ?? null;
  }

  within<T>(request: CurrentRequest, work: () => T): T {
    return this.request.run(request, work);
  }

  async reserve(...lengths: number[]): Promise<void> {
    await this.request.current?.reserve(...lengths);
  }
}

/** A span that nobody sees. */
export const NO_SPAN: Span = {
  isRecorded: false,
  run: (work) => work(),
  set: () => undefined,
  add: () => undefined,
  end: () => undefined,
};

const NO_HEADERS = Object.freeze({});

/** Records nothing. */
export class NoTracer extends Tracer {
  start(): Span {
    return NO_SPAN;
  }

  headers(): Readonly<Record<string, string>> {
    return NO_HEADERS;
  }
}
