import type { Json } from '../../domain/workspace/json.js';
import { namesSecret } from './secrets.js';

/** Keys of a JSON schema, which tell about a value and do not hold it. */
const DESCRIBING = new Set(['type', 'title', 'description', 'format', 'minLength', 'maxLength', 'required']);

/** Tells whether a value under this key is a secret. `isWithin`: an object around it is one. */
export const isSecretUnder = (key: string, isWithin: boolean): boolean =>
  namesSecret(key) || (isWithin && !DESCRIBING.has(key));

/** Tells whether a key holds the name of the member `value` beside it. */
export const holdsName = (key: string): boolean => /^(?:name|key)$/i.test(key);
export const holdsValue = (key: string): boolean => /^value$/i.test(key);

/** Tells whether a member such as `name` holds the name of a secret, so that the member `value` is one. */
export const hasSecretValue = (members: readonly (readonly [string, Json])[]): boolean =>
  members.some(([key]) => holdsValue(key)) &&
  members.some(([key, member]) => typeof member === 'string' && holdsName(key) && namesSecret(member));
