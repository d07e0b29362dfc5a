import { context, createContextKey } from '@opentelemetry/api';
import type { LogFields } from '../../application/shared/ports.js';

/** The log fields of a request or a task, in its context of OpenTelemetry. */
export const LOG_FIELDS = createContextKey('the log fields of a request or a task');

/** Returns the ids of the trace and of the span of the running request or task. Returns no fields outside of both. */
export const traceFields = (): LogFields => (context.active().getValue(LOG_FIELDS) as LogFields | undefined) ?? {};
