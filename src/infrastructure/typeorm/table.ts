import {
  type DeleteResult,
  EntitySchema,
  type EntitySchemaColumnOptions,
  type FindOptionsOrder,
  type FindOptionsWhere,
  LessThan,
  type ObjectLiteral,
  type Repository,
  type UpdateResult,
} from 'typeorm';
import type { Page, SizedItem, VersionPage } from '../../application/shared/ports.js';

type Columns<Row> = { readonly [Field in keyof Row]-?: EntitySchemaColumnOptions };

const snakeCase = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Maps every field of `Row` to a column. `teamId` becomes `team_id`, unless the column has a name of its own.
 *
 * To add a field to an entity, add its column here and a migration. Until then, the compiler and
 * `tests/infrastructure/typeorm/columns.test.ts` report what is missing.
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

/** A row that stores how many bytes it takes with all its versions or messages. */
export interface StoredBytes {
  readonly storedBytes: number;
}

/** The column `storedBytes`. Entities are read without it. */
export const storedBytes = { type: 'bigint', select: false } as const;

/** Adds to `storedBytes` in an UPDATE. */
export const plus = (bytes: number) => () => `greatest(0, stored_bytes + ${bytes})`;

/** Returns whether the statement changed or deleted exactly one row. */
export const changesOne = async (statement: Promise<UpdateResult | DeleteResult>): Promise<boolean> =>
  (await statement).affected === 1;

/** A page of the rows that match `where`, in the order of one column. */
interface Part<Row> {
  readonly where: FindOptionsWhere<Row>;
  readonly order: FindOptionsOrder<Row>;
  readonly take: number;
}

/** Selects a page of the rows that match `where`, ordered by `key`, the greatest first. */
export function newest<Row extends ObjectLiteral>(
  where: FindOptionsWhere<Row>,
  page: Page | VersionPage,
  key: keyof Row & string = 'id',
): Part<Row> {
  const last = 'after' in page ? page.after : page.before;
  const order = { [key]: 'DESC' } as FindOptionsOrder<Row>;
  return { where: { ...where, ...(last !== null && { [key]: LessThan(last) }) }, order, take: page.limit };
}

/** Returns for each row of a page the ordering column as `id`, and the total size of the columns `texts` as `bytes`. */
export async function sizesOf<Row extends ObjectLiteral>(
  table: Repository<Row>,
  { where, order, take }: Part<Row>,
  texts: readonly string[],
): Promise<SizedItem[]> {
  const [[id, direction] = []] = Object.entries(order);
  const length = texts.map((field) => `coalesce(octet_length(CAST(one.${field} AS text)), 0)`).join(' + ');
  const query = table.createQueryBuilder('one').select(`one.${id}`, 'id').addSelect(length, 'bytes').where(where);
  const rows = await query.orderBy(`one.${id}`, direction).limit(take).getRawMany();
  return rows.map((row) => ({ id: String(row.id), bytes: Number(row.bytes) }));
}
