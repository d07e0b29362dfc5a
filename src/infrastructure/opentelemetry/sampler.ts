import { randomBytes } from 'node:crypto';
import { ROOT_CONTEXT } from '@opentelemetry/api';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';

const TRACE_ID_BYTES = 16;

/**
 * Returns the sampler that OTEL_TRACES_SAMPLER names. It decides on the traces of callers as on new ones: neither the flag
 * nor the id of a trace, which callers choose, makes the service record more. Spans inside follow the request's. A name or a
 * ratio that OpenTelemetry does not define records everything, as in its SDK.
 */
export function samplerOf(name = 'always_on', ratio = ''): Sampler {
  const root = rootSampler(name.replace(/^parentbased_/, ''), ratio);
  const own: Sampler = {
    shouldSample: (_context, _traceId, ...about) =>
      root.shouldSample(ROOT_CONTEXT, randomBytes(TRACE_ID_BYTES).toString('hex'), ...about),
    toString: () => String(root),
  };
  return new ParentBasedSampler({ root, remoteParentSampled: own, remoteParentNotSampled: own });
}

function rootSampler(name: string, ratio: string): Sampler {
  if (name === 'always_off') return new AlwaysOffSampler();
  const isRatio = ratio !== '' && Number(ratio) >= 0 && Number(ratio) <= 1;
  return name === 'traceidratio' && isRatio ? new TraceIdRatioBasedSampler(Number(ratio)) : new AlwaysOnSampler();
}
