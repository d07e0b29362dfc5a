import { port } from '../../shared/port.js';

export interface ContentHasher {
  /**
   * SHA-256 of the parts put together, as UTF-8, in 64 small hexadecimal digits. However much it is, other work goes on
   * meanwhile.
   */
  hash(parts: Iterable<string>): Promise<string>;
}
export const ContentHasher = port<ContentHasher>('workspace.ContentHasher');
