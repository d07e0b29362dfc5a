import type { ResponseFormat } from '../chat/chat.js';
import type { Finding } from '../shared/errors.js';
import { isObject, type Json, type JsonObject } from './json.js';

/** The field `response_format` of a project's spec, without its nesting. Evaluations store it. */
export type SpecFormat =
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly name: string;
      readonly description?: string;
      readonly schema: JsonObject;
      readonly strict?: boolean;
    };

export const formatLimits = {
  /** The length of the schema as JSON, in characters. */
  schemaLength: 100_000,
  name: /^[A-Za-z0-9_-]{1,64}$/,
} as const;

export const formatMessages = {
  type: 'must be text, json_object or json_schema',
  name: 'must have 1 to 64 letters, digits, underscores and hyphens',
  length: `must have at most ${formatLimits.schemaLength} characters`,
} as const;

export const fitsFormat = (schema: JsonObject): boolean => JSON.stringify(schema).length <= formatLimits.schemaLength;

const isAbsent = (value: Json | undefined): value is null | undefined => value === undefined || value === null;

/** Lists the problems of the field `response_format` of a spec. Ignores additional fields. */
export function formatFindings(path: string, sent: Json | undefined): Finding[] {
  if (isAbsent(sent)) return [];
  if (!isObject(sent)) return [{ path, message: 'must be an object' }];
  const { type, json_schema: format } = sent;
  if (type === 'text' || type === 'json_object') return [];
  if (type !== 'json_schema') return [{ path: `${path}.type`, message: formatMessages.type }];
  if (!isObject(format)) return [{ path: `${path}.json_schema`, message: 'must be an object' }];
  const { name, description, schema, strict } = format;
  const wrong: Record<string, string | false> = {
    name: !(typeof name === 'string' && formatLimits.name.test(name)) && formatMessages.name,
    description: !(isAbsent(description) || typeof description === 'string') && 'must be a string',
    schema: isObject(schema) ? !fitsFormat(schema) && formatMessages.length : 'must be a JSON object',
    strict: !(isAbsent(strict) || typeof strict === 'boolean') && 'must be true or false',
  };
  return Object.entries(wrong).flatMap(([field, message]) =>
    message === false ? [] : [{ path: `${path}.json_schema.${field}`, message }],
  );
}

/** Reads a `response_format` without findings. Returns null if the answer may be any text. */
export function formatOf(sent: Json | undefined): SpecFormat | null {
  const { type, json_schema: format } = isObject(sent) ? sent : {};
  if (type === 'json_object') return { type };
  if (type !== 'json_schema' || !isObject(format)) return null;
  const { name, description, schema, strict } = format;
  return {
    type,
    name: name as string,
    ...(!isAbsent(description) && { description: description as string }),
    schema: schema as JsonObject,
    ...(!isAbsent(strict) && { strict: strict as boolean }),
  };
}

export const schemaOf = (format: SpecFormat | null | undefined): JsonObject | null =>
  format?.type === 'json_schema' ? format.schema : null;

/** Returns the format for a request to a model. */
export function requestFormatOf(format: SpecFormat): ResponseFormat {
  if (format.type === 'json_object') return { json: 'object' };
  const { type: _, ...schema } = format;
  return { json: 'schema', ...schema };
}
