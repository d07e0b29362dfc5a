import { port } from '../../shared/port.js';

/** Sessions and API keys by their end, mailed tokens by theirs, mails by their delivery, site tokens by their end. */
export const leftoverKinds = ['credentials', 'mailed_tokens', 'mails', 'site_tokens'] as const;
export type LeftoverKind = (typeof leftoverKinds)[number];

/** What has had its time and is of no more use to anybody. */
export interface Leftovers {
  /**
   * Removes at most `most` of those whose time was over at `before`, and tells how many. What has no end, and a mail that
   * is not delivered, stays. However many do that at once, none waits for another.
   */
  remove(kind: LeftoverKind, before: Date, most: number): Promise<number>;
}
export const Leftovers = port<Leftovers>('operations.Leftovers');
