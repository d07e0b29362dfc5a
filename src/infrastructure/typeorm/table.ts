import { EntitySchema, type EntitySchemaColumnOptions, type EntitySchemaOptions, type ObjectLiteral } from 'typeorm';

interface Table<Row> extends EntitySchemaOptions<Row> {
  readonly tableName: string;
  readonly columns: { readonly [Field in keyof Row]-?: EntitySchemaColumnOptions };
}

/**
 * Maps every field of `Row` to a column. A new field of an entity does not compile until its table names the column, and
 * `tests/infrastructure/typeorm/columns.test.ts` fails until a migration adds it: that is all to do here for a new field.
 */
export const defineTable = <Row extends ObjectLiteral>(table: Table<Row>): EntitySchema<Row> =>
  new EntitySchema<Row>(table);

/** A row with a `spec`. TypeORM's types cannot follow a recursive type such as JSON. */
export type WithSpec<Entity extends { spec: unknown }> = Omit<Entity, 'spec'> & { readonly spec: object };
