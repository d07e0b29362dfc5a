import { z } from 'zod';
import type { Bounded } from '../../application/shared/bounded-page.js';
import { NotFound } from '../../domain/shared/errors.js';
import { GREATEST_VERSION, intLike, namedObject, wholeNumberText } from './schemas.js';

export const Count = intLike(1, 'The number of items in this answer.');

export const NextCursor = z
  .string()
  .nullable()
  .meta({ description: 'The `cursor` of the next page. Null on the last one.', example: null });

/** Describes the answer of a list that comes whole. */
export const listOf = <Name extends string, Item extends z.ZodType>(name: Name, item: Item, id: string) =>
  namedObject(id, { ...named(name, z.array(item)), count: Count });

/** Describes the answer of a list that comes in pages. */
export const pageOfList = <Name extends string, Item extends z.ZodType>(name: Name, item: Item, id: string) =>
  namedObject(id, { ...named(name, z.array(item)), count: Count, next_cursor: NextCursor });

/** Types an object with one member of a given name. */
export const named = <Name extends string, Schema>(name: Name, schema: Schema) =>
  ({ [name]: schema }) as Record<Name, Schema>;

const MOST = 1000;

const limit = (usual: number) =>
  wholeNumberText(1, MOST)
    .default(usual)
    .meta({ description: `The largest number of items, 1 to ${MOST}.`, default: usual });

const next = { description: 'The `next_cursor` of the page before.' };

/** Pages through a list that grows without bound, newest first. The cursor is the last id of the page before. */
export const Page = z.object({
  limit: limit(100),
  cursor: z
    .string()
    .regex(/^[a-z]{3}_[0-9a-f-]{36}$/, { error: 'must be the next_cursor of an earlier answer' })
    .optional()
    .meta(next),
});

/** Fits lists of objects that a team makes by hand: usually one page has all of them. */
export const LongPage = Page.extend({ limit: limit(MOST) });

/** Pages through numbered parts of one object, newest first. The cursor is the last number of the page before. */
export const NumberPage = z.object({
  limit: Page.shape.limit,
  cursor: wholeNumberText(1, GREATEST_VERSION).optional().meta(next),
});

/** Requests one more than the page holds, which tells whether there is a next page. */
export const pageOf = ({ limit, cursor }: z.output<typeof Page>) => ({ limit: limit + 1, after: cursor ?? null });
export const numberPageOf = ({ limit, cursor }: z.output<typeof NumberPage>) => ({
  limit: limit + 1,
  before: cursor ?? null,
});

/** Cuts off what was requested beyond the page. */
export const onePage = <T>(found: readonly T[], { limit }: { readonly limit: number }): Bounded<T> => ({
  items: found.slice(0, limit),
  more: found.length > limit,
});

/** Fits a list that tells itself whether there is more. */
export const boundedPageOf = ({ limit, cursor }: z.output<typeof Page>) => ({ limit, after: cursor ?? null });

/** Reads the version in a path. Throws NotFound for text that cannot be a version. */
export function versionInPath(text: string): number {
  const version = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(version <= GREATEST_VERSION)) throw new NotFound('version');
  return version;
}
