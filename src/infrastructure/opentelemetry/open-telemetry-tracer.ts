import {
  type Span as ApiSpan,
  type Tracer as ApiTracer,
  type Context,
  context,
  createContextKey,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import {
  type LogFields,
  type Span,
  type SpanAttributes,
  type SpanOptions,
  type TraceHeaders,
  Tracer,
} from '../../application/shared/ports.js';
import { DomainError } from '../../domain/shared/errors.js';
import { NO_SPAN, SystemClock } from '../system/adapters.js';
import { steadyMs } from '../system/scheduling.js';
import { LOG_FIELDS } from './trace-fields.js';

const kinds = {
  server: SpanKind.SERVER,
  consumer: SpanKind.CONSUMER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
} as const;

/** All spans of a trace in this process use one steady clock, so that each span lies within its parent. */
const EPOCH = createContextKey('the milliseconds since the epoch at which the steady clock began');

const clock = new SystemClock();

/** Makes spans with the API of OpenTelemetry. Log lines contain the ids of the span of their request or task. */
export class OpenTelemetryTracer extends Tracer {
  constructor(private readonly tracer: ApiTracer) {
    super();
  }

  start(name: string, { kind = 'internal', attributes = {}, cause }: SpanOptions = {}): Span {
    const isEntry = kind === 'server' || kind === 'consumer';
    if (!isEntry && !trace.getActiveSpan()?.isRecording()) return NO_SPAN;
    const parent = isEntry ? causeOf(cause, kind) : context.active();
    const epoch = (parent.getValue(EPOCH) as number | undefined) ?? clock.now().getTime() - steadyMs();
    const startTime = epoch + steadyMs();
    const span = this.tracer.startSpan(name, { kind: kinds[kind], attributes, startTime }, parent);
    const { traceId: trace_id, spanId: span_id } = span.spanContext();
    const inside = trace.setSpan(parent, span).setValue(EPOCH, epoch);
    const named = isEntry ? inside.setValue(LOG_FIELDS, { trace_id, span_id } satisfies LogFields) : inside;
    return new StartedSpan(this.tracer, span, named, startTime);
  }

  headers(): Readonly<Record<string, string>> {
    const headers = {};
    propagation.inject(context.active(), headers);
    return headers;
  }
}

/** Returns the context of a cause. A task's cause comes from this service, so a task is recorded if its cause was. */
function causeOf(cause: TraceHeaders | undefined, kind: 'server' | 'consumer'): Context {
  const parent = propagation.extract(ROOT_CONTEXT, cause ?? {});
  const remote = trace.getSpanContext(parent);
  return remote && kind === 'consumer' ? trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: false }) : parent;
}

class StartedSpan implements Span {
  constructor(
    private readonly tracer: ApiTracer,
    private readonly span: ApiSpan,
    private readonly inside: Context,
    private readonly startTime: number,
  ) {}

  run<T>(work: () => T): T {
    return context.with(this.inside, work);
  }

  get isRecorded(): boolean {
    return this.span.isRecording();
  }

  set(attributes: SpanAttributes, name?: string): void {
    this.span.setAttributes(attributes);
    if (name !== undefined) this.span.updateName(name);
  }

  add(name: string, { from, to }: { from: number; to: number }, attributes: SpanAttributes = {}): void {
    if (!this.isRecorded) return;
    const child = this.tracer.startSpan(name, { attributes, startTime: this.startTime + from }, this.inside);
    child.end(this.startTime + Math.max(from, to));
  }

  end(failure?: unknown): void {
    if (failure !== undefined) {
      this.span.setAttribute('error.type', errorType(failure));
      this.span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.span.end((this.inside.getValue(EPOCH) as number) + steadyMs());
  }
}

/** Returns the code or the name of a failure. Never returns its message, which may contain texts of a chat. */
export function errorType(failure: unknown): string {
  if (typeof failure === 'string') return failure;
  if (failure instanceof DomainError) return failure.code;
  const { code, name } = (failure ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  if (typeof code === 'string') return code;
  return typeof name === 'string' ? name : '_OTHER';
}
