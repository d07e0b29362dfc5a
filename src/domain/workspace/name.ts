import type { Finding } from '../shared/errors.js';

const LENGTH = 200;

/** What is wrong with the name that a team gives to something of its workspace; as typed, without blanks around it. */
export function nameFindings(name: string): Finding[] {
  const length = [...name].length;
  return length >= 1 && length <= LENGTH ? [] : [{ path: 'name', message: `must have 1 to ${LENGTH} characters` }];
}

/** The longest possible beginning of `name` that leaves room for `ending`. */
export const nameWithEnding = (name: string, ending: string): string =>
  [...name].slice(0, LENGTH - [...ending].length).join('') + ending;
