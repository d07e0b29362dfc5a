/** Makes the grammar of an answer: text, a value of a schema, tool calls, or one of these. */
import { isObject, type Json } from '../../../../domain/workspace/json.js';
import type { CallForm } from '../tools/call-form.js';
import { bytes, characters, choice, type Expression, Grammar, repeat, sequence, text } from './expression.js';
import { addValues } from './json-grammar.js';
import { type TextTree, textTreeOf } from './listed-values.js';
import { UnsupportedSchema } from './schema.js';

/** A schema, with its place in the request. */
export interface PlacedSchema {
  readonly schema: Json;
  readonly path: string;
}

export interface CallableTool extends PlacedSchema {
  readonly name: string;
}

export interface Calls {
  readonly form: CallForm;
  /** At least one tool. Their names are all different. */
  readonly tools: readonly CallableTool[];
  readonly isRequired: boolean;
  /** If false, the answer has at most one call. */
  readonly areSeveral: boolean;
}

/** The form of an answer. It has `text`, `calls` or both. */
export interface AnswerForm {
  /** The text has a value of this schema. Absent: it is free, if calls are not required. */
  readonly text?: PlacedSchema;
  readonly calls?: Calls;
  /** The place of the whole form in the request. */
  readonly path: string;
}

/** Returns the grammar in the notation of XGrammar. Throws UnsupportedSchema for a schema without such a grammar. */
export function answerGrammarOf({ text: value, calls }: AnswerForm): string {
  const grammar = new Grammar();
  const values = value && addValues(grammar, value.schema, value.path);
  if (!calls) return grammar.print(values?.name ?? anyText(grammar).name);
  const { form, isRequired } = calls;
  const start = form.open + form.before;
  const rest = grammar.add(sequence(text(start.slice(form.trigger.length)), callsAfterStart(grammar, calls)));
  const whole = grammar.add(sequence(text(form.trigger), rest));
  if (isRequired) return grammar.print(whole.name);
  if (values) return grammar.print(grammar.add(choice(values, whole)).name);
  if (form.followsText) return grammar.printAfterText(form.trigger, rest.name);
  return grammar.print(textOr(grammar, form.trigger, rest).name);
}

/** Returns the texts of all calls, without the text before the name of the first call. */
function callsAfterStart(grammar: Grammar, { form, tools, areSeveral }: Calls): Expression {
  const { before, between, after, separator, close } = form;
  const ends = new Map(
    tools.map(({ name, schema, path }) => {
      const values = addValues(grammar, argumentsSchema(schema, path), path);
      return [`${name}${between[0]}`, grammar.add(sequence(text(between.slice(1)), values, text(after)))] as const;
    }),
  );
  const call = grammar.add(branched(grammar, textTreeOf([...ends.keys()]), Buffer.alloc(0), ends));
  if (!areSeveral || separator === null) return sequence(call, text(close));
  return sequence(call, repeat(grammar.add(sequence(text(separator + before), call)), 0), text(close));
}

/** Returns the texts of a tree, each with what follows it. No text is the beginning of another. */
function branched(grammar: Grammar, tree: TextTree, begun: Buffer, ends: ReadonlyMap<string, Expression>): Expression {
  if (tree.edges.length === 0) return ends.get(begun.toString()) as Expression;
  const parts = tree.edges.map(([some, to]) =>
    sequence(bytes(some), grammar.add(branched(grammar, to, Buffer.concat([begun, some]), ends))),
  );
  return choice(...parts);
}

/** The keywords that can name properties, beside `properties`. */
const NAMING = [
  'required',
  'additionalProperties',
  'propertyNames',
  'minProperties',
  'anyOf',
  'oneOf',
  'allOf',
  '$ref',
];

/** Returns a schema of objects. Empty `properties` allow any others, but mean a tool without arguments. */
function argumentsSchema(schema: Json, path: string): Json {
  if (!isObject(schema)) throw new UnsupportedSchema(path, 'must be a JSON object');
  const { type = 'object', properties } = schema;
  if (![type].flat().includes('object')) throw new UnsupportedSchema(path, 'type must be object');
  const isNone = isObject(properties) && Object.keys(properties).length === 0;
  const isClosed = isNone && !NAMING.some((keyword) => keyword in schema);
  return { ...schema, type: 'object', ...(isClosed && { additionalProperties: false }) };
}

/** Returns the texts that do not begin with `trigger`, and the trigger with `rest`. */
function textOr(grammar: Grammar, trigger: string, rest: Expression): Expression & { kind: 'rule' } {
  const any = anyText(grammar);
  return [...trigger].reduceRight<Expression & { kind: 'rule' }>((next, character) => {
    const code = character.charCodeAt(0);
    const others = characters([0, code - 1], [code + 1, 0x10ffff]);
    return grammar.add(choice(text(''), sequence(text(character), next), sequence(others, any)));
  }, grammar.add(rest));
}

const anyText = (grammar: Grammar): Expression & { kind: 'rule' } =>
  grammar.add(repeat(grammar.add(characters([0, 0x10ffff])), 0));
