import { DomainError } from '../../../../domain/shared/errors.js';

/** The beginnings of paths in the engine-neutral chat, and their names in the Responses API. */
const names: readonly (readonly [RegExp, string])[] = [
  [/^response_format\.json_schema\./, 'text.format.'],
  [/^response_format/, 'text.format'],
  [/^messages?\b.*/, 'input'],
  [/^max_tokens/, 'max_output_tokens'],
  [/^reasoning_effort/, 'reasoning.effort'],
  [/^logprobs/, 'top_logprobs'],
];

class Renamed extends DomainError {}

/** Returns the error with the names that the fields have in the Responses API. */
export function inOwnWords(error: unknown): unknown {
  if (!(error instanceof DomainError)) return error;
  const { kind, code, message, advice } = error;
  const [first, ...others] = advice.details ?? [];
  if (code === 'context_length_exceeded' && !first)
    return new Renamed(kind, code, message, { ...advice, details: [{ path: 'input', message }] });
  const name = first && names.find(([beginning]) => beginning.test(first.path));
  if (!name) return error;
  const path = first.path.replace(...name);
  const renamed = message.startsWith(first.path) ? path + message.slice(first.path.length) : message;
  return new Renamed(kind, code, renamed, { ...advice, details: [{ ...first, path }, ...others] });
}
