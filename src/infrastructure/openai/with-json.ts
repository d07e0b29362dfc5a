import { z } from 'zod';
import type { JsonObject } from '../../domain/workspace/json.js';

/**
 * Adds `verbatim` to what the schema makes of JSON. `kept` returns the JSON for the caller, or null for none. `problem`
 * says what is wrong if the schema does not. `about` returns further fields of JSON that is kept.
 */
export function withJson<T extends object>(
  schema: z.ZodType<T>,
  kept: (json: JsonObject) => JsonObject | null,
  problem: string,
  about: (json: JsonObject) => Partial<T> = () => ({}),
): z.ZodType<T> {
  return z.unknown().transform((json, context) => {
    const { data, error } = schema.safeParse(json);
    if (error) {
      context.addIssue(error.issues[0]?.message ?? problem);
      return z.NEVER;
    }
    const verbatim = kept(json as JsonObject);
    return verbatim ? { ...data, ...about(json as JsonObject), verbatim: JSON.stringify(verbatim) } : data;
  });
}
