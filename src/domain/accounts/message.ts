/** An e-mail to one person. */
export interface Message {
  readonly to: { readonly name: string; readonly address: string };
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Returns the time of the next attempt after the n-th failed one (from 1): 5 s, doubling, at most 15 minutes. */
export function retryAt(failures: number, now: Date): Date {
  const seconds = Math.min(5 * 2 ** (failures - 1), 15 * 60);
  return new Date(now.getTime() + seconds * 1000);
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
export const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
