/** An e-mail to one person. */
export interface Message {
  readonly to: { readonly name: string; readonly address: string };
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** When the n-th failed delivery (from 1) is tried again: 5 s, doubling, at most 15 minutes. */
export function retryAt(failures: number, now: Date): Date {
  const seconds = Math.min(5 * 2 ** (failures - 1), 15 * 60);
  return new Date(now.getTime() + seconds * 1000);
}
