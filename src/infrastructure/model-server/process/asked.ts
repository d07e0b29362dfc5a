import { invalidRequest, kindOf, shown } from './findings.js';
import type { Signature, Tensors } from './tensors.js';

/** An output to answer with. */
export interface AskedOutput {
  /** In the signature. */
  readonly index: number;
  /** As raw bytes behind the JSON. */
  readonly binary: boolean;
}

/** How the answer is to look. */
export interface AnswerForm {
  readonly kind: 'predict' | 'infer';
  /** The caller's own, to be given back. */
  readonly id: string | null;
  readonly outputs: readonly AskedOutput[];
}

/** A request, understood. */
export interface Asked {
  /** In the order of the signature's inputs. */
  readonly feeds: Tensors;
  readonly form: AnswerForm;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The member itself, never something inherited. */
export const own = (object: JsonObject, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** Throws a Refusal. */
export function objectAt(value: unknown, path: string): JsonObject {
  if (isObject(value)) return value;
  throw invalidRequest([{ path, message: `must be an object, not ${kindOf(value)}` }]);
}

export const names = (specs: Signature['inputs']): string => specs.map(({ name }) => `"${name}"`).join(', ');

export const unknownInput = (name: string, { inputs }: Signature): string =>
  `the model has no input "${shown(name)}"; it takes ${names(inputs)}`;

export const unknownOutput = (name: unknown, { outputs }: Signature): string => {
  const given = typeof name === 'string' ? `"${shown(name)}"` : `of which the name is ${kindOf(name)}`;
  return `the model has no output ${given}; it gives ${names(outputs)}`;
};
