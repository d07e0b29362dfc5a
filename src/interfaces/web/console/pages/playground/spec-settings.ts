import { isObject } from '../../shared/spec/fields.js';
import { formatOf, numberFields, type Settings, schemaProblem, stopsOf } from './request.js';

/** The spec of a project. `sampling` has the fields of a request, such as `temperature`. */
type Spec = Readonly<Record<string, unknown>>;

/** Returns the values of `spec.sampling` as a user would type them. Leaves out what no request can have. */
function samplingOf({ sampling }: Spec): Partial<Settings> {
  if (!isObject(sampling)) return {};
  const { stop } = sampling as { stop?: unknown };
  const numbers = numberFields.filter((name) => typeof sampling[name] === 'number');
  return {
    ...Object.fromEntries(numbers.map((name) => [name, String(sampling[name])])),
    ...(Array.isArray(stop) && { stop: stop.filter((text) => typeof text === 'string').join('\n') }),
  };
}

export const promptOf = ({ system_prompt }: Spec): string => (typeof system_prompt === 'string' ? system_prompt : '');

/** Returns the settings of a request: what the user typed, and the values of the spec for what is empty. */
export function settingsFor(typed: Settings, spec: Spec): Settings {
  const sampling = samplingOf(spec);
  const names = [...numberFields, 'stop'] as const;
  return {
    ...typed,
    system: typed.system ?? promptOf(spec),
    ...Object.fromEntries(
      names.map((name) => [name, typed[name].trim() === '' ? (sampling[name] ?? '') : typed[name]]),
    ),
  };
}

/**
 * Returns a spec with the system prompt and the sampling of these settings, and with their response format if it is not
 * any text. All other fields stay.
 */
export function specWith(spec: Spec, settings: Settings): Spec {
  const before = isObject(spec.sampling) ? spec.sampling : {};
  const sampling: Record<string, unknown> = { ...before };
  const stop = stopsOf(settings);
  for (const name of numberFields) put(sampling, name, settings[name].trim() === '' ? null : Number(settings[name]));
  put(sampling, 'stop', stop.length > 0 ? stop : null);
  const canSend = settings.format !== 'json_schema' || schemaProblem(settings.schema) === null;
  const next: Record<string, unknown> = { ...spec, ...(canSend && formatOf(settings)) };
  const system = settings.system ?? '';
  if (system !== promptOf(spec)) put(next, 'system_prompt', system.trim() === '' ? null : system);
  if (Object.keys(sampling).length > 0) next.sampling = sampling;
  else if (Object.keys(before).length > 0) delete next.sampling;
  return next;
}

/** Sets a field at its place. The value null removes it. */
function put(fields: Record<string, unknown>, name: string, value: unknown): void {
  if (value === null) delete fields[name];
  else fields[name] = value;
}
