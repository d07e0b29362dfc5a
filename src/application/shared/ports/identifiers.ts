import { port } from '../port.js';

/** The kinds of identifiers and the prefix that each carries. */
export type IdKind =
  | 'usr'
  | 'tea'
  | 'ses'
  | 'key'
  | 'ver'
  | 'msg'
  | 'prj'
  | 'mdl'
  | 'dst'
  | 'cnv'
  | 'dep'
  | 'job'
  | 'rul'
  | 'alr'
  | 'whk'
  | 'inv'
  | 'aud'
  | 'req'
  | 'chatcmpl';

export interface Identifiers {
  /** `<kind>_<UUIDv7>` (`chatcmpl-…` as its clients know it): never given twice, and in the order in which they were made when sorted as text. */
  next(kind: IdKind): string;
}
export const Identifiers = port<Identifiers>('shared.Identifiers');
