import { isDate } from 'node:util/types';
import type { z } from 'zod';
import type { Bounded } from '../../application/shared/bounded-page.js';
import { named } from './paging.js';
import { seconds } from './schemas.js';

type SnakeCase<Name extends string> = Name extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Tail>}`
  : Name;

type Sent<Value> = Value extends Date ? number : Value;

/** The fields of an entity under their JSON names, with the types that they have in JSON. */
type Fields<Entity> = { [Name in keyof Entity & string as SnakeCase<Name>]: Sent<Entity[Name]> };

/** The names of the fields that the answer takes from the entity as they are. */
type Taken<Answer, Entity> = {
  [Name in keyof Answer & keyof Fields<Entity>]: Fields<Entity>[Name] extends Answer[Name] ? Name : never;
}[keyof Answer & keyof Fields<Entity>];

/** Marks a field of an entity that the answer must not show. */
export const hidden = Symbol('hidden');

type Others<Answer, Entity> = Omit<Answer, Taken<Answer, Entity>> &
  Record<Exclude<keyof Fields<Entity>, keyof Answer>, typeof hidden>;

/**
 * Builds an answer from an entity. The answer has exactly the fields of `schema`: each comes from `others`, or else from
 * the entity's property of the same name in camelCase, a Date as seconds. A field that is in the entity but not in
 * `schema` must be `hidden` in `others`, so that a new field cannot be forgotten here.
 */
export function answerFrom<Schema extends z.ZodObject, Entity extends object>(
  schema: Schema,
  entity: Entity,
  others: Others<z.input<Schema>, Entity>,
): z.input<Schema> {
  const given: Readonly<Record<string, unknown>> = { ...others };
  const own = entity as Readonly<Record<string, unknown>>;
  const names = Object.keys(schema.shape);
  return Object.fromEntries(
    names.map((name) => [name, name in given ? given[name] : sent(own[camelCase(name)])]),
  ) as z.input<Schema>;
}

const camelCase = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

/** `instanceof Date` would miss the dates of Node's own modules within jest. */
const sent = (value: unknown) => (isDate(value) ? seconds(value) : value);

/** Answers a list that comes whole. */
export const listed = <Name extends string, Item>(name: Name, items: readonly Item[]) => ({
  ...named(name, [...items]),
  count: items.length,
});

type Numbered = { readonly id: string } | { readonly version: number };

/** Answers a page of a list. The id of its last object, or the version, is the cursor of the next page. */
export function paged<Name extends string, Entity extends Numbered, Item>(
  name: Name,
  { items, more }: Bounded<Entity>,
  answer: (entity: Entity) => Item,
) {
  const last = items.at(-1);
  const cursor = last && ('id' in last ? last.id : String(last.version));
  return { ...listed(name, items.map(answer)), next_cursor: (more && cursor) || null };
}

/** Answers a deletion when it is done. */
export async function deleted(id: string, deletion: Promise<unknown>) {
  await deletion;
  return { id, deleted: true as const };
}
