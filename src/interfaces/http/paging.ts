import { z } from 'zod';
import type { Bounded } from '../../application/shared/bounded-page.js';
import { NotFound } from '../../domain/shared/errors.js';
import { atMost } from '../../domain/shared/text.js';
import { GREATEST_VERSION, intLike, namedObject, text, wholeNumberText } from './schemas.js';

export const Count = intLike(1, 'The number of items in this answer.');

export const NextCursor = z
  .string()
  .nullable()
  .meta({ description: 'The `cursor` for the next page. Null on the last page.', example: null });

/** Describes the answer of a list without pages. */
export const listOf = <Name extends string, Item extends z.ZodType>(name: Name, item: Item, id: string) =>
  namedObject(id, { ...named(name, z.array(item)), count: Count });

/** Describes the answer of one page of a list. */
export const pageOfList = <Name extends string, Item extends z.ZodType>(name: Name, item: Item, id: string) =>
  namedObject(id, { ...named(name, z.array(item)), count: Count, next_cursor: NextCursor });

/** Returns an object with one member. The type of the object has the member's name. */
export const named = <Name extends string, Schema>(name: Name, schema: Schema) =>
  ({ [name]: schema }) as Record<Name, Schema>;

const MAX_ITEMS = 1000;
const MOST_SEARCH_TEXT = 100;

const limit = (usual: number) =>
  wholeNumberText(1, MAX_ITEMS)
    .default(usual)
    .meta({ description: `The largest number of items, 1 to ${MAX_ITEMS}.`, default: usual });

const cursorMeta = { description: 'The `next_cursor` of the page before.' };

/** Describes the query of a list that grows without limit. The cursor is the last id of the page before. */
export const Page = z.object({
  limit: limit(100),
  cursor: z
    .string()
    .regex(/^[a-z]{3}_[0-9a-f-]{36}$/, { error: 'must be the next_cursor of an earlier answer' })
    .optional()
    .meta(cursorMeta),
});

/** Describes a text to search for. */
export const SearchText = text()
  .refine((sent) => sent !== '' && atMost(sent, MOST_SEARCH_TEXT), {
    error: `must have 1 to ${MOST_SEARCH_TEXT} characters`,
  })
  .meta({ minLength: 1, maxLength: MOST_SEARCH_TEXT });

/** Describes the query of a list of objects that a team makes by hand. Usually one page has all of them. */
export const LongPage = Page.extend({ limit: limit(MAX_ITEMS) });

/** Describes the query of such a list that can be searched by name. */
export const NamedPage = LongPage.extend({
  q: SearchText.optional().describe('Only those with this text in their name, in upper or lower case.'),
});

/** Describes the query of a list of numbered items. The cursor is the last number of the page before. */
export const NumberPage = z.object({
  limit: Page.shape.limit,
  cursor: wholeNumberText(1, GREATEST_VERSION).optional().meta(cursorMeta),
});

/** Asks for one item more than the page holds. If the item exists, there is a next page. */
export const pageOf = ({ limit, cursor }: z.output<typeof Page>) => ({ limit: limit + 1, after: cursor ?? null });
/** Returns the same as `pageOf`, for numbered items. */
export const numberPageOf = ({ limit, cursor }: z.output<typeof NumberPage>) => ({
  limit: limit + 1,
  before: cursor ?? null,
});

/** Removes the item that `pageOf` or `numberPageOf` asked for beyond the page. */
export const onePage = <T>(found: readonly T[], { limit }: { readonly limit: number }): Bounded<T> => ({
  items: found.slice(0, limit),
  more: found.length > limit,
});

/** Asks for no item beyond the page, because the use case itself tells whether there is a next page. */
export const boundedPageOf = ({ limit, cursor }: z.output<typeof Page>) => ({ limit, after: cursor ?? null });

/** Returns the version in a path. Throws NotFound for text that cannot be a version. */
export function versionInPath(text: string): number {
  const version = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(version <= GREATEST_VERSION)) throw new NotFound('version');
  return version;
}
