import { z } from 'zod';
import type { JsonObject } from '../../domain/workspace/json.js';

/** Seconds since the epoch, with a fraction. */
export const Timestamp = z.number().meta({ description: 'Seconds since the epoch' });

export const seconds = (date: Date): number => date.getTime() / 1000;
export const dateOf = (seconds: number): Date => new Date(seconds * 1000);
export const secondsOrNull = (date: Date | null): number | null => date && seconds(date);

/** A required field, told apart from one of the wrong type. */
export const wanted = (what: string) => (issue: { input?: unknown }) =>
  issue.input === undefined ? 'is required' : `must be ${what}`;

export const text = () => z.string({ error: wanted('a string') });

export const number = () => z.number({ error: wanted('a number') });

export const truth = () => z.boolean({ error: wanted('true or false') });

export const choice = <const Texts extends readonly [string, ...string[]]>(texts: Texts) =>
  z.enum(texts, { error: wanted(texts.length === 1 ? `"${texts[0]}"` : `one of ${texts.join(', ')}`) });

export const wholeNumber = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
};

/** The greatest that the database's integers hold. */
export const GREATEST_VERSION = 2_147_483_647;

export const Version = wholeNumber(1, GREATEST_VERSION)
  .optional()
  .meta({ description: 'The version last read. May be left out where `If-Match` carries it.' });

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Any JSON object, kept as it is. */
export const AnyObject = z
  .custom<JsonObject>(isObject, { error: wanted('a JSON object') })
  .meta({ type: 'object', additionalProperties: true });

export const NoBody = z.undefined();

/** A whole number in a query string. */
export const wholeNumberText = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  const digits = z.string({ error }).regex(/^\d{1,10}$/, { error });
  return digits.transform(Number).pipe(z.number().min(min, { error }).max(max, { error }));
};

/** As above; a number beyond the most is taken as that. */
export const clampedNumberText = (min: number, max: number) => {
  const error = `must be a whole number from ${min} on`;
  const digits = z.string({ error }).regex(/^\d+$/, { error });
  return digits.transform((text) => Math.min(Number(text), max)).pipe(z.number().min(min, { error }).max(max));
};

export const Deleted = z.object({ id: z.string(), deleted: z.literal(true) }).meta({ id: 'Deleted' });
export const deleted = (id: string) => ({ id, deleted: true as const });
