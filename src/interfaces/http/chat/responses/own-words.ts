import { DomainError } from '../../../../domain/shared/errors.js';

/** The beginnings of paths in the engine-neutral chat, and their names in the Responses API. */
const paths: readonly (readonly [RegExp, string])[] = [
  [/^response_format\.json_schema\./, 'text.format.'],
  [/^response_format/, 'text.format'],
  [/^messages?\b.*/, 'input'],
  [/^max_tokens/, 'max_output_tokens'],
  [/^reasoning_effort/, 'reasoning.effort'],
  [/^logprobs/, 'top_logprobs'],
];

/** The names of fields within messages. */
const words: readonly (readonly [RegExp, string])[] = [
  [/\bresponse_format(\.json_schema)?\b/g, 'text.format'],
  [/\bmax_tokens\b/g, 'max_output_tokens'],
  [/\breasoning_effort\b/g, 'reasoning.effort'],
];

class Renamed extends DomainError {}

/** Returns the message with the names that the fields have in the Responses API. */
export const ownWords = (message: string): string =>
  words.reduce((text, [neutral, own]) => text.replace(neutral, own), message);

/** Returns the error with the names that the fields have in the Responses API. */
export function inOwnWords(error: unknown): unknown {
  if (!(error instanceof DomainError)) return error;
  const { kind, code, advice } = error;
  const message = ownWords(error.message);
  const [first, ...others] = advice.details ?? [];
  if (code === 'context_length_exceeded' && !first)
    return new Renamed(kind, code, message, { ...advice, details: [{ path: 'input', message }] });
  const name = first && paths.find(([beginning]) => beginning.test(first.path));
  if (!name) return new Renamed(kind, code, message, advice);
  const path = first.path.replace(...name);
  const begins = error.message.startsWith(first.path);
  const renamed = begins ? path + ownWords(error.message.slice(first.path.length)) : message;
  return new Renamed(kind, code, renamed, { ...advice, details: [{ ...first, path }, ...others] });
}
