/** Lists the values of schemas with `enum` or `const`, and arranges texts as a tree. */
import type AjvClass from 'ajv/dist/2020.js';
import type { Json, JsonObject } from '../../../../domain/workspace/json.js';
import { ajvCode } from '../../../json-schema/pattern.js';
import { isWithin, type Keywords, typeOf } from './schema.js';

/** Returns the values of a schema without `anyOf` and `oneOf`, or null if the schema does not list them. */
export function valuesOf({ enum: listed, ...others }: Keywords, root: Json): readonly Json[] | null {
  const { type } = others;
  if (listed === undefined) return type === 'boolean' ? [true, false] : type === 'null' ? [null] : null;
  const ofType = (listed as Json[]).filter(
    (value) => type === undefined || [type].flat().some((wide) => isWithin(typeOf(value), String(wide))),
  );
  if (Object.keys(others).every((one) => one === 'type')) return ofType;
  const { $defs, definitions: older }: JsonObject = typeof root === 'object' ? (root as JsonObject) : {};
  const validate = new (ajv())({ strict: false, validateFormats: false, code: ajvCode }).compile({
    ...others,
    ...($defs !== undefined && { $defs }),
    ...(older !== undefined && { definitions: older }),
  });
  return ofType.filter((value) => validate(value));
}

/** Loads the validator only for a schema that needs it, because loading takes longer than making most grammars. */
const ajv = (): typeof AjvClass => require('ajv/dist/2020.js').default;

/** Texts by their common beginnings (a radix tree of UTF-8 bytes). */
export interface TextTree {
  /** A text may end here. */
  readonly accepts: boolean;
  /** No two edges begin with the same byte. */
  readonly edges: readonly (readonly [bytes: Uint8Array, to: TextTree])[];
}

export const textTreeOf = (texts: readonly string[]): TextTree =>
  treeOf(
    texts.map((text) => Buffer.from(text)),
    0,
  );

/** Returns the tree of the bytes of these texts from position `at` on. Their earlier bytes are equal. */
function treeOf(texts: readonly Buffer[], at: number): TextTree {
  const groups = new Map<number | undefined, Buffer[]>();
  for (const text of texts) {
    const group = groups.get(text[at]);
    if (group) group.push(text);
    else groups.set(text[at], [text]);
  }
  const accepts = groups.delete(undefined);
  const edges = [...groups.values()].map((group) => {
    const end = commonLength(group, at + 1);
    return [(group[0] as Buffer).subarray(at, end), treeOf(group, end)] as const;
  });
  return { accepts, edges };
}

/** Returns the number of bytes with which all these texts begin. The first `least` bytes are equal. */
function commonLength([first, ...others]: readonly Buffer[], least: number): number {
  let length = least;
  while (length < (first as Buffer).length && others.every((other) => other[length] === first?.[length])) length += 1;
  return length;
}
