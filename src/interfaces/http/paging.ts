import { z } from 'zod';
import { NotFound } from '../../domain/shared/errors.js';
import { GREATEST_VERSION, wholeNumberText } from './schemas.js';

const LIMIT = { least: 1, most: 1000, usual: 100 } as const;

const limit = (usual: number) =>
  wholeNumberText(LIMIT.least, LIMIT.most)
    .default(usual)
    .meta({ description: `The largest number of items, ${LIMIT.least} to ${LIMIT.most}.`, default: usual });

const next = { description: 'The `next_cursor` of the page before.' };

/** Fits lists of objects that a team makes by hand: usually one page has all of them. */
const LONG_LIMIT = 1000;

/** Pages through a list that grows without bound, newest first. The cursor is the last id of the page before. */
export const Page = z.object({
  limit: limit(LIMIT.usual),
  cursor: z
    .string()
    .regex(/^[a-z]{3}_[0-9a-f-]{36}$/, { error: 'must be the next_cursor of an earlier answer' })
    .optional()
    .meta(next),
});

export const LongPage = Page.extend({ limit: limit(LONG_LIMIT) });

/** Pages through numbered parts of one object, newest first. The cursor is the last number of the page before. */
export const NumberPage = z.object({
  limit: Page.shape.limit,
  cursor: wholeNumberText(1, GREATEST_VERSION).optional().meta(next),
});

export const VersionPage = NumberPage;

export const versionPageOf = ({ limit, cursor }: z.output<typeof VersionPage>) => ({
  limit: limit + 1,
  before: cursor ?? null,
});

export function pagedVersions<T extends { readonly version: number }>(
  found: readonly T[],
  { limit }: z.output<typeof VersionPage>,
) {
  const versions = found.slice(0, limit);
  const last = versions.at(-1)?.version;
  return { versions, count: versions.length, next_cursor: found.length > limit && last ? String(last) : null };
}

/** Reads the version in a path. Throws NotFound for text that cannot be a version. */
export function versionInPath(text: string): number {
  const version = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(version <= GREATEST_VERSION)) throw new NotFound('version');
  return version;
}

/** Requests one more than the page holds, which tells whether there is a next page. */
export const pageOf = ({ limit, cursor }: z.output<typeof Page>) => ({ limit: limit + 1, after: cursor ?? null });

export function paged<T extends { readonly id: string }>(found: readonly T[], { limit }: z.output<typeof Page>) {
  const items = found.slice(0, limit);
  return { items, count: items.length, next_cursor: found.length > limit ? (items.at(-1)?.id ?? null) : null };
}

/** Fits a list that tells itself whether there is more. */
export const boundedPageOf = ({ limit, cursor }: z.output<typeof Page>) => ({ limit, after: cursor ?? null });

export const boundedlyPaged = <T extends { readonly id: string }>(found: {
  readonly items: readonly T[];
  readonly more: boolean;
}) => ({
  items: [...found.items],
  count: found.items.length,
  next_cursor: found.more ? (found.items.at(-1)?.id ?? null) : null,
});
