import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js';

/** Describes the part of JSON Schema that inputs use. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly example?: unknown;
}

export interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Header {
  readonly $ref?: string;
  readonly required?: boolean;
}

interface Described {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Readonly<Record<string, unknown>>;
}

export interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
  };
  /** Names the kinds of credential that the operation accepts. With an empty alternative, it needs none. */
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly responses: Readonly<Record<string, Described>>;
}

export interface Endpoint extends Operation {
  readonly method: string;
  readonly path: string;
}

interface Components {
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly responses: Readonly<Record<string, Described>>;
  readonly headers: Readonly<Record<string, Header>>;
}

/** Reads an OpenAPI document of the service. */
export class OpenApi {
  readonly endpoints: readonly Endpoint[];
  private readonly components: Components;
  private readonly ajv = new Ajv2020({ strict: false, logger: false, inlineRefs: false });
  private readonly validators = new WeakMap<Schema, ValidateFunction>();

  constructor(document: {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    readonly components: Components;
  }) {
    this.components = document.components;
    this.endpoints = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
    );
    this.ajv.addFormat('uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i);
    this.ajv.addFormat('email', /^[\w.+-]+@\w+(\.\w+)+$/);
    this.ajv.addFormat('uri', (text: string) => URL.canParse(text));
    this.ajv.addSchema(document, 'openapi.json');
  }

  resolve<T extends { readonly $ref?: string }>(described: T): T {
    const [kind = '', name = ''] = described.$ref?.split('/').slice(-2) ?? [];
    return described.$ref ? (this.components[kind as keyof Components][name] as unknown as T) : described;
  }

  isValid(schema: Schema, value: unknown): boolean {
    const absolute = () => JSON.stringify(schema).replaceAll('"#/components/', '"openapi.json#/components/');
    const validate = this.validators.get(schema) ?? this.ajv.compile(JSON.parse(absolute()));
    this.validators.set(schema, validate);
    return validate(value) === true;
  }

  answer({ responses }: Operation, status: number): Described | null {
    const declared = responses[status];
    return declared ? this.resolve(declared) : null;
  }
}
