/** As much of a JSON Schema as the contracts make. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly example?: unknown;
}
export type Schemas = Readonly<Record<string, Schema>>;

export interface Example {
  readonly value: unknown;
  /** The parts that have no example, which the value lacks. */
  readonly missing: readonly string[];
}

const found = (value: unknown): Example => ({ value, missing: [] });

/**
 * The example of a schema: its own one, or one made of those of its parts. What a schema leaves no choice about needs
 * none: a constant, a list of values (the first), true or false (true), what may be null. A part that may be left out is
 * left out unless it has an example of its own.
 */
export function exampleOf(schema: Schema, schemas: Schemas, at = ''): Example {
  if (schema.example !== undefined) return found(schema.example);
  if (schema.$ref) return exampleOf(referred(schema, schemas), schemas, at);
  if (schema.const !== undefined) return found(schema.const);
  if (schema.enum) return found(schema.enum[0]);
  if (schema.allOf) return merged(schema.allOf.map((part) => exampleOf(part, schemas, at)));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return best(choices.map((choice) => exampleOf(choice, schemas, at)));
  if (schema.properties) return ofProperties(schema, schemas, at);
  if (schema.items) return listed(exampleOf(schema.items, schemas, `${at}[]`));
  if (schema.type === 'boolean') return found(true);
  if (schema.type === 'null' || schema.type?.includes('null')) return found(null);
  return { value: undefined, missing: [at] };
}

function ofProperties({ properties = {}, required = [] }: Schema, schemas: Schemas, at: string): Example {
  const shown = Object.entries(properties).filter(
    ([name, part]) => required.includes(name) || referred(part, schemas).example !== undefined,
  );
  const parts = shown.map(([name, part]) => [name, exampleOf(part, schemas, at ? `${at}.${name}` : name)] as const);
  return {
    value: Object.fromEntries(parts.map(([name, { value }]) => [name, value])),
    missing: parts.flatMap(([, { missing }]) => missing),
  };
}

const referred = (schema: Schema, schemas: Schemas): Schema =>
  schema.$ref ? (schemas[schema.$ref.replace('#/components/schemas/', '')] ?? {}) : schema;

const merged = (parts: readonly Example[]): Example => ({
  value: Object.assign({}, ...parts.map(({ value }) => value)),
  missing: parts.flatMap(({ missing }) => missing),
});

const best = (choices: readonly Example[]): Example =>
  choices.find(({ missing }) => missing.length === 0) ?? choices[0] ?? found(null);

const listed = ({ value, missing }: Example): Example => ({ value: missing.length > 0 ? [] : [value], missing });
