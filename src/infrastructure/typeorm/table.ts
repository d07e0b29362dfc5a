import {
  type DeleteResult,
  EntitySchema,
  type EntitySchemaColumnOptions,
  type ObjectLiteral,
  type SelectQueryBuilder,
  type UpdateResult,
} from 'typeorm';
import type { SizedItem } from '../../application/shared/ports.js';

type Columns<Row> = { readonly [Field in keyof Row]-?: EntitySchemaColumnOptions };

const snakeCase = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Maps every field of `Row` to a column, `teamId` to `team_id` unless the column has a name of its own. A new field of an
 * entity does not compile until its table names the column, and `tests/infrastructure/typeorm/columns.test.ts` fails until a
 * migration adds it: that is all to do here for a new field.
 */
export function defineTable<Row extends ObjectLiteral>(
  tableName: string,
  columns: Columns<Row>,
  schema?: string,
): EntitySchema<Row> {
  const named = Object.entries<EntitySchemaColumnOptions>(columns).map(([field, options]) => [
    field,
    { name: snakeCase(field), ...options },
  ]);
  const name = schema ? `${schema}_${tableName}` : tableName;
  return new EntitySchema<Row>({ name, tableName, schema, columns: Object.fromEntries(named) });
}

/** A row with a `spec`. TypeORM's types cannot follow a recursive type such as JSON. */
export type WithSpec<Entity extends { spec: unknown }> = Omit<Entity, 'spec'> & { readonly spec: object };

/** Tells whether the statement changed or deleted exactly one row. */
export const changesOne = async (statement: Promise<UpdateResult | DeleteResult>): Promise<boolean> =>
  (await statement).affected === 1;

/** Returns the size of each row that `query` selects: its `id` column, and the bytes of its `texts` columns together. */
export async function sizesOf(
  query: SelectQueryBuilder<ObjectLiteral>,
  id: string,
  texts: readonly string[],
): Promise<SizedItem[]> {
  const { alias } = query;
  const length = texts.map((field) => `coalesce(octet_length(CAST(${alias}.${field} AS text)), 0)`).join(' + ');
  const rows = await query.select(`${alias}.${id}`, 'id').addSelect(length, 'bytes').getRawMany();
  return rows.map((row) => ({ id: String(row.id), bytes: Number(row.bytes) }));
}
