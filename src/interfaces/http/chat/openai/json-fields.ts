/** Reads JSON that may have any form. */
import type { Json } from '../../../../domain/workspace/json.js';

export const isText = (json: Json | undefined): json is string => typeof json === 'string';
export const string = (json: Json | undefined) => (isText(json) ? json : undefined);

type Given<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

/** Returns the fields that are not undefined. */
export const given = <T extends object>(fields: T): Given<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>;
