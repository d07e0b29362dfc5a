import { z } from 'zod';
import { InvalidRequest } from '../../domain/shared/errors.js';
import { atMost } from '../../domain/shared/text.js';
import { isObject, type Json, type JsonObject } from '../../domain/workspace/json.js';

/** Describes an object that becomes a named schema in the OpenAPI document. */
export const namedObject = <Shape extends z.ZodRawShape>(id: string, shape: Shape) => z.object(shape).meta({ id });

/** Describes text of an answer by an example. */
export const textLike = (example: string, description?: string) => z.string().meta({ example, description });

/** Describes a whole number of an answer by an example. */
export const intLike = (example: number, description?: string) => z.int().meta({ example, description });

/** An exact amount of money. */
export const Cost = z.string().meta({ pattern: '^-?\\d+\\.\\d{9}$', example: '0.000123400' });

export const Currency = textLike('USD', 'The currency of all prices and costs: `SERVICE_CURRENCY`.');

export const Timestamp = z.number().meta({ description: 'Seconds since the epoch.', example: 1763683200.123 });

const idPattern = (kind: string) => ({
  pattern: `^${kind}_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`,
  example: `${kind}_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11`,
});

export const id = (kind: string) => z.string().meta(idPattern(kind));

export const AccountId = id('usr').describe('The id of an account.');

/** Describes a credential or a token. The example has the right form, but is not valid. */
export const secret = (prefix: string) => textLike(`${prefix}_${'Example'.repeat(7)}`);

export const ActorId = textLike(
  'usr_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11',
  'The id of an account, or `master` for the master key.',
);

export const VersionNumber = intLike(1, 'Grows by one with each update.');

/** Lists the fields that each version of an object shows. */
export const versionFields = { version: VersionNumber, created_at: Timestamp, created_by: AccountId };

export const seconds = (date: Date): number => date.getTime() / 1000;
export const wholeSeconds = (date: Date): number => Math.floor(seconds(date));
export const dateOf = (seconds: number): Date => new Date(Math.round(seconds * 1000));

/** Returns the message about a field that is missing or has the wrong type. */
export const wanted = (expected: string) => (issue: { input?: unknown }) =>
  issue.input === undefined ? 'is required' : `must be ${expected}`;

/** Matches text without NUL, which PostgreSQL cannot store. */
export const STORABLE = '^[^\\u0000]*$';

/** Matches storable text with at least one character that is not white space. */
const VISIBLE = '^\\s*[^\\s\\u0000][^\\u0000]*$';

export const text = () => z.string({ error: wanted('a string') }).meta({ pattern: STORABLE });

/** Accepts text of at most `most` characters. */
export const shortText = (most: number) =>
  text()
    .refine((sent) => atMost(sent, most), { error: `must have at most ${most} characters` })
    .meta({ maxLength: most, description: `At most ${most} characters.` });

/** Describes text of 1 to `most` characters. The domain drops the white space around it and measures the rest. */
export const visible = (most: number) => ({
  type: 'string' as const,
  minLength: 1,
  maxLength: most,
  pattern: VISIBLE,
  description: `1 to ${most} characters. White space around them is dropped.`,
});

export const nameText = (most: number, example: string) => text().meta({ ...visible(most), example });

/** Returns one JSON Schema for each name: it requires the field with this name. */
export const anyOf = (...names: readonly string[]) => names.map((name) => ({ required: [name] }));

/** Describes an id in a body. The use case refuses an id that no object has. */
export const idText = (kind: string) => text().meta(idPattern(kind));

export const number = () => z.number({ error: wanted('a number') });

export const truth = () => z.boolean({ error: wanted('true or false') });

export const choice = <const Texts extends readonly [string, ...string[]]>(texts: Texts) =>
  z.enum(texts, { error: wanted(texts.length === 1 ? `"${texts[0]}"` : `one of ${texts.join(', ')}`) });

export const wholeNumber = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
};

/** The largest number that an integer column of PostgreSQL holds. */
export const GREATEST_VERSION = 2_147_483_647;

export const Version = wholeNumber(1, GREATEST_VERSION)
  .optional()
  .meta({ description: 'The version that you last read. `If-Match` can carry it instead.', example: 1 });

type SentVersions = readonly (number | undefined)[];

/** Lists the versions that the caller last read, from the body and from `If-Match`. */
export const sentVersions = (inBody: SentVersions, ifMatch: number | undefined): number[] =>
  [...inBody, ifMatch].filter((version) => version !== undefined);

/** Returns the same as `sentVersions`. Throws InvalidRequest if there is no version. */
export function expectedVersions(inBody: SentVersions, ifMatch: number | undefined): number[] {
  const versions = sentVersions(inBody, ifMatch);
  if (versions.length === 0) {
    throw new InvalidRequest([{ path: 'version', message: 'is required: the version that you last read' }]);
  }
  return versions;
}

/** Describes any JSON value. The description of the OpenAPI document says which values are refused. */
export const jsonComponent = {
  type: [
    'string' as const,
    'number' as const,
    'boolean' as const,
    'null' as const,
    'array' as const,
    'object' as const,
  ],
  description: 'Any JSON value.',
  pattern: STORABLE,
  items: {},
};

export const jsonReference = { $ref: '#/components/schemas/Json' };

export const AnyObject = z
  .custom<JsonObject>((value) => isObject(value as Json), { error: wanted('a JSON object') })
  .meta({ type: 'object', propertyNames: { pattern: STORABLE }, additionalProperties: jsonReference });

/** Accepts any JSON value. `z.unknown()` would be documented as optional. */
export const AnyJson = z.custom<Json>((value) => value !== undefined).meta(jsonComponent);

/** Accepts a whole number in a query string. */
export const wholeNumberText = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  const digits = z.string({ error }).regex(/^\d{1,10}$/, { error });
  const number = digits.transform(Number).pipe(z.number().min(min, { error }).max(max, { error }));
  return number.meta({ type: 'integer', minimum: min, maximum: max });
};

/** Accepts seconds since the epoch in a query string, and turns them into a Date. */
export const secondsText = () => {
  const error = 'must be a time in seconds since the epoch';
  return z
    .string({ error })
    .regex(/^\d{1,10}(\.\d{1,9})?$/, { error })
    .transform((text) => dateOf(Number(text)));
};

const tailError = { error: 'must be a whole number from 1 on' };

/** Accepts the number of lines of a log to return. A number above 10,000 counts as 10,000. */
export const Tail = z
  .string(tailError)
  .regex(/^\d+$/, tailError)
  .transform((text) => Math.min(Number(text), 10_000))
  .pipe(z.number().min(1, tailError))
  .default(200)
  .meta({
    type: 'integer',
    minimum: 1,
    description: 'The largest number of lines. Above 10000 it is 10000.',
    default: 200,
  });

export const Sha256 = z
  .string()
  .meta({ pattern: '^[0-9a-f]{64}$', example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' });

export const Deleted = z
  .object({
    id: textLike('dst_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11', 'The id of the deleted object.'),
    deleted: z.literal(true),
  })
  .meta({ id: 'Deleted' });

/** Names the instance of the service that answered. */
export const InstanceName = textLike(
  'host-1:8080',
  'The instance of the service that answered. State, port and address are those of its own processes.',
);
