import type { EntitySchemaColumnOptions } from 'typeorm';

/** A column for each field of a row: a forgotten or unknown field does not compile. */
export type Columns<Row> = Readonly<Record<keyof Row, EntitySchemaColumnOptions>>;

/** A row with a `spec`. The types of TypeORM cannot take a recursive type such as JSON. */
export type WithSpec<Entity extends { spec: unknown }> = Omit<Entity, 'spec'> & { readonly spec: object };
