import { isDate } from 'node:util/types';
import type { z } from 'zod';
import type { Bounded } from '../../application/shared/bounded-page.js';
import { named } from './paging.js';
import { seconds } from './schemas.js';

type SnakeCase<Name extends string> = Name extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Tail>}`
  : Name;

type InJson<Value> = Value extends Date ? number : Value extends readonly (infer Item)[] ? Item[] : Value;

/** Maps the fields of an entity to their names and types in JSON. */
type Fields<Entity> = { [Name in keyof Entity & string as SnakeCase<Name>]: InJson<Entity[Name]> };

/** Lists the fields of the answer that fit the entity's fields of the same names. */
type Taken<Answer, Entity> = {
  [Name in keyof Answer & keyof Fields<Entity>]: Fields<Entity>[Name] extends Answer[Name] ? Name : never;
}[keyof Answer & keyof Fields<Entity>];

/** Marks a field of an entity that the answer must not show. */
export const hidden = Symbol('hidden');

type Others<Answer, Entity> = Omit<Answer, Taken<Answer, Entity>> &
  Record<Exclude<keyof Fields<Entity>, keyof Answer>, typeof hidden>;

/**
 * Builds an answer from an entity. The answer has exactly the fields of `schema`. Each comes from `others`, or else
 * from the entity's property of the same name in camelCase. A Date becomes seconds. A field that is in the entity but
 * not in `schema` must be `hidden` in `others`, so that nobody forgets to decide about a new field.
 */
export function answerFrom<Schema extends z.ZodObject, Entity extends object>(
  schema: Schema,
  entity: Entity,
  others: Others<z.input<Schema>, Entity>,
): z.input<Schema> {
  const explicit = others as Readonly<Record<string, unknown>>;
  const properties = entity as Readonly<Record<string, unknown>>;
  const answer: Record<string, unknown> = {};
  for (const [name, property] of fieldsOf(schema)) {
    answer[name] = name in explicit ? explicit[name] : inJson(properties[property]);
  }
  return answer as z.input<Schema>;
}

/** Caches the results of `fieldsOf`, which would take most of the time of an answer with thousands of items. */
const fieldsOfSchemas = new WeakMap<z.ZodObject, readonly (readonly [string, string])[]>();

/** Lists the fields of an answer with their names in camelCase. */
function fieldsOf(schema: z.ZodObject) {
  const fields =
    fieldsOfSchemas.get(schema) ?? Object.keys(schema.shape).map((name) => [name, camelCase(name)] as const);
  fieldsOfSchemas.set(schema, fields);
  return fields;
}

const camelCase = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

/** Returns a Date as seconds. In jest, `instanceof Date` would be false for dates of Node.js's own modules. */
const inJson = (value: unknown) => (isDate(value) ? seconds(value) : value);

/** Returns the answer of a list without pages. */
export const listed = <Name extends string, Item>(name: Name, items: readonly Item[]) => ({
  ...named(name, [...items]),
  count: items.length,
});

type Numbered = { readonly id: string } | { readonly version: number };

/** Returns the answer of one page. The id or the version of its last item is the cursor of the next page. */
export function paged<Name extends string, Entity extends Numbered, Item>(
  name: Name,
  { items, more }: Bounded<Entity>,
  answer: (entity: Entity) => Item,
) {
  const last = items.at(-1);
  const cursor = last && ('id' in last ? last.id : String(last.version));
  return { ...listed(name, items.map(answer)), next_cursor: (more && cursor) || null };
}

/** Waits for a deletion, and returns its answer. */
export async function deleted(id: string, deletion: Promise<unknown>) {
  await deletion;
  return { id, deleted: true as const };
}
