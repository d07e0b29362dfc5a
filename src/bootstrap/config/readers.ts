import { existsSync, readFileSync, statSync } from 'node:fs';
import { z } from 'zod';

// How the text of a setting is read, with a message that says what it must be.

export const whole = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, { error })
    .transform(Number)
    .pipe(z.number().min(min, { error }).max(max, { error }));
};
export const secondsOfTime = (min: number, max: number) => {
  const error = `must be a number of seconds from ${min} to ${max}`;
  const decimal = z.string().regex(/^\d{1,9}(\.\d{1,3})?$/, { error });
  return decimal.transform(Number).pipe(z.number().min(min, { error }).max(max, { error }));
};
export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` });
export const flag = z.enum(['true', 'false'], { error: 'must be true or false' }).transform((text) => text === 'true');
export const secretText = (min: number) =>
  z.string().regex(new RegExp(`^\\S{${min},}$`), { error: `must have at least ${min} characters and no white space` });
export const address = (protocols: readonly string[], error: string) =>
  z.string().refine((text) => protocols.includes(protocolOf(text)), { error });
/** A host and a port, and nothing that would get lost, or known, where calls are sent there. */
export const httpOrigin = z
  .string()
  .transform((text) => text.replace(/\/+$/, ''))
  .refine((text) => protocolOf(text) === 'http:' && /^http:\/\/[^/?#@\\]+$/i.test(text), {
    error: 'must be an http:// URL of a host and a port alone, without path, query or user',
  });
const protocolOf = (text: string): string => (URL.canParse(text) ? new URL(text).protocol : '');

export function isKeySet(path: string): boolean {
  try {
    return Array.isArray(JSON.parse(readFileSync(path, 'utf8')).keys);
  } catch {
    return false;
  }
}

export function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}
