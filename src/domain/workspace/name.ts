import type { Finding } from '../shared/errors.js';
import { atMost } from '../shared/text.js';
import type { Json } from './json.js';

/** The most characters of a name, in Unicode code points. */
export const NAME_LENGTH = 200;

/** Returns the problems of a name. Ignores blanks around it. */
export function nameFindings(sent: Json): Finding[] {
  const wrong = (message: string) => [{ path: 'name', message }];
  if (typeof sent !== 'string') return wrong('must be a string');
  const name = sent.trim();
  return name !== '' && atMost(name, NAME_LENGTH) ? [] : wrong(`must have 1 to ${NAME_LENGTH} characters`);
}

/** Returns the name with the ending, shortened in front of it if necessary. */
export const nameWithEnding = (name: string, ending: string): string =>
  [...name].slice(0, NAME_LENGTH - [...ending].length).join('') + ending;
