import type { Finding } from '../shared/errors.js';
import { atMost } from '../shared/text.js';
import type { Json } from './json.js';

/** In Unicode code points. */
export const NAME_LENGTH = 200;

/** What is wrong with the name that a team gives to something of its workspace. Blanks around it don't count. */
export function nameFindings(sent: Json): Finding[] {
  const wrong = (message: string) => [{ path: 'name', message }];
  if (typeof sent !== 'string') return wrong('must be a string');
  const name = sent.trim();
  return name !== '' && atMost(name, NAME_LENGTH) ? [] : wrong(`must have 1 to ${NAME_LENGTH} characters`);
}

/** The longest possible beginning of `name` that leaves room for `ending`. */
export const nameWithEnding = (name: string, ending: string): string =>
  [...name].slice(0, NAME_LENGTH - [...ending].length).join('') + ending;
