import { z } from 'zod';
import { wholeNumberText } from './schemas.js';

const LIMIT = { least: 1, most: 1000, usual: 100 } as const;

/** For lists that grow without bound: newest first, a page at a time. The cursor is the last id of the page before. */
export const Page = z.object({
  limit: wholeNumberText(LIMIT.least, LIMIT.most).default(LIMIT.usual),
  cursor: z
    .string()
    .regex(/^[a-z]{3}_[0-9a-f-]{36}$/, { error: 'must be the next_cursor of an earlier answer' })
    .optional(),
});

/** Asks for one more than the page holds, which tells whether there is a next page. */
export const pageOf = ({ limit, cursor }: z.output<typeof Page>) => ({ limit: limit + 1, after: cursor ?? null });

export function paged<T extends { readonly id: string }>(found: readonly T[], { limit }: z.output<typeof Page>) {
  const items = found.slice(0, limit);
  return { items, count: items.length, next_cursor: found.length > limit ? (items.at(-1)?.id ?? null) : null };
}
