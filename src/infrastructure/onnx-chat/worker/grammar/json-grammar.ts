/** Makes the grammar of a JSON schema. It matches only texts that the schema allows, but not always all of them. */
import type AjvClass from 'ajv/dist/2020.js';
import type { Json, JsonObject } from '../../../../domain/workspace/json.js';
import { automatonOf, isNested, type State } from './automaton.js';
import {
  characters,
  choice,
  type Expression,
  Grammar,
  NOTHING,
  optional,
  type Range,
  repeat,
  sequence,
  text,
} from './expression.js';
import { numbers } from './numbers.js';
import { ofLength, pattern, patternOf, UnsupportedPattern } from './pattern.js';
import { allOf, isWithin, type Keywords, Schemas, typeOf, typesOf, UnsupportedSchema } from './schema.js';

/** A schema with more rules takes too long to compile. */
const MAX_RULES = 5_000;

/** The most states of an automaton for a string or a number with nested repetitions. */
const MAX_STATES = 500;
/** The most states without nested repetitions. XGrammar is faster without an automaton than with a larger one. */
const FEW_STATES = 100;

/** At most one space is allowed. Otherwise an answer could contain white space without end. */
const COMMA = sequence(text(','), optional(text(' ')));
const COLON = sequence(text(':'), optional(text(' ')));

/** Characters that need no escape in a string. Excludes control characters, surrogates, and U+FFFD (broken text). */
const PLAIN: Range[] = [
  [0x20, 0x21],
  [0x23, 0x5b],
  [0x5d, 0x7e],
  [0xa0, 0xd7ff],
  [0xe000, 0xfffc],
  [0x10000, 0x10ffff],
];
const ESCAPED = '"\\\b\f\n\r\t';

/** Returns the grammar in the notation of XGrammar. Throws UnsupportedSchema for a schema without such a grammar. */
export function grammarOf(schema: Json, path: string): string {
  const maker = new JsonGrammar(schema);
  const root = maker.ruleOf(schema, path);
  const { endless } = maker.grammar;
  if (endless !== null) throw new UnsupportedSchema(path, '$ref or anyOf refers to itself without anything between');
  const printed = maker.grammar.print(root.name);
  if (printed === null)
    throw new UnsupportedSchema(path, maker.problem ?? 'describes no value at all: check its type, anyOf and $ref');
  return printed;
}

class JsonGrammar {
  readonly grammar = new Grammar();
  /** The reason why a part of the schema has no values, if it is known. */
  problem: string | null = null;
  private readonly names = new Map<string, string>();
  private readonly schemas: Schemas;

  constructor(private readonly root: Json) {
    this.schemas = new Schemas(root);
  }

  ruleOf(schema: Json, path: string): Expression & { kind: 'rule' } {
    return this.rule(JSON.stringify(schema), path, () => this.values(this.schemas.keywordsOf(schema, path), path));
  }

  private rule(
    key: string,
    path: string,
    make: () => Expression,
    keyword = lastKeyword(path),
  ): Expression & { kind: 'rule' } {
    const known = this.names.get(key);
    if (known !== undefined) return { kind: 'rule', name: known };
    const name = `r${this.names.size}`;
    if (this.names.size > MAX_RULES)
      throw new UnsupportedSchema(path, `${keyword} makes the schema too large: more than ${MAX_RULES} rules`);
    this.names.set(key, name);
    this.grammar.rules.set(name, make());
    return { kind: 'rule', name };
  }

  private values(keywords: Keywords, path: string): Expression {
    const { anyOf, oneOf, ...others } = keywords;
    if (oneOf !== undefined) this.requireDisjoint(oneOf as Json[], path);
    const [branches, name, rest] = anyOf
      ? [anyOf as Json[], 'anyOf', { ...others, ...(oneOf !== undefined && { oneOf }) }]
      : [oneOf as Json[] | undefined, 'oneOf', others];
    const all: Json = Object.keys(rest).length === 0 ? true : rest;
    if (branches) return choice(...branches.map((one, i) => this.ruleOf(allOf(all, one), `${path}.${name}[${i}]`)));
    if (keywords.enum !== undefined) return this.listed(keywords, path);
    return choice(...typesOf(keywords).map((type) => this.valuesOf(type, keywords, path)));
  }

  private requireDisjoint(branches: readonly Json[], path: string): void {
    for (const [i, one] of branches.entries())
      for (const other of branches.slice(i + 1))
        if (!this.schemas.areDisjoint(one, other, path))
          throw new UnsupportedSchema(path, 'oneOf of schemas that may overlap is not supported: use anyOf');
  }

  private listed({ enum: listed, ...others }: Keywords, path: string): Expression {
    const { type } = others;
    const ofType = (listed as Json[]).filter(
      (value) => type === undefined || [type].flat().some((wide) => isWithin(typeOf(value), String(wide))),
    );
    const { $defs, definitions: older }: JsonObject = typeof this.root === 'object' ? (this.root as JsonObject) : {};
    const validate =
      Object.keys(others).some((one) => one !== 'type') &&
      new (ajv())({ strict: false, validateFormats: false }).compile({
        ...others,
        ...($defs !== undefined && { $defs }),
        ...(older !== undefined && { definitions: older }),
      });
    const values = validate ? ofType.filter((value) => validate(value)) : ofType;
    if (values.length === 0) this.problem ??= `enum or const at ${path} has no valid value`;
    return choice(...values.map((value) => text(JSON.stringify(value))));
  }

  private valuesOf(type: string, keywords: Keywords, path: string): Expression {
    switch (type) {
      case 'object':
        return this.object(keywords, path);
      case 'array':
        return this.array(keywords, path);
      case 'string':
        return this.string(keywords, path);
      case 'boolean':
        return choice(text('true'), text('false'));
      case 'null':
        return text('null');
      default:
        return this.number(keywords, type === 'integer', path);
    }
  }

  private number(keywords: Keywords, integer: boolean, path: string): Expression {
    const names = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].filter((name) => name in keywords);
    const found = numbers(Object.fromEntries(names.map((name) => [name, keywords[name]])), integer);
    if (found === NOTHING) this.problem ??= `${names.join(' and ')} at ${path} leave no number of 15 digits`;
    return found === NOTHING ? found : this.texts(found, path, names[0] ?? 'type');
  }

  private string(keywords: Keywords, path: string): Expression {
    const { minLength: min = 0, maxLength: max = Number.POSITIVE_INFINITY, pattern: own, format } = keywords;
    const known = format === undefined ? null : patternOf(format as string);
    if (format !== undefined && known === null) throw new UnsupportedSchema(path, `format ${format} is not supported`);
    const keyword = ['pattern', 'format', 'maxLength', 'minLength'].find((name) => name in keywords) ?? 'type';
    const source = (own as string | undefined) ?? known;
    if ((min as number) > (max as number)) this.problem ??= `minLength at ${path} is more than maxLength`;
    try {
      const all = source === null ? repeat(characters([0, 0x10ffff]), 0) : pattern(source);
      return sequence(text('"'), this.texts(ofLength(all, min as number, max as number), path, keyword), text('"'));
    } catch (error) {
      if (error instanceof UnsupportedPattern) throw new UnsupportedSchema(path, `${keyword} ${error.message}`);
      if (error instanceof RangeError) throw new UnsupportedSchema(path, `${keyword} is too deep or too long`);
      throw error;
    }
  }

  /**
   * Returns the JSON form of these texts, as the rules of an automaton. If the automaton would be too large, returns
   * the form without an automaton, or throws UnsupportedPattern for nested repetitions.
   */
  private texts(expression: Expression, path: string, keyword: string): Expression {
    const states = automatonOf(expression, isNested(expression) ? MAX_STATES : FEW_STATES);
    if (!states && isNested(expression))
      throw new UnsupportedPattern(`needs more than ${MAX_STATES} states: nest fewer repetitions`);
    if (!states) return this.written(expression, path);
    const key = JSON.stringify(expression);
    const rest = (id: number): Expression =>
      this.rule(
        `${id} of ${key}`,
        path,
        () => {
          const { accepts, edges } = states[id] as State;
          const parts = edges.map(([ranges, to]) => sequence(this.written(characters(...ranges), path), rest(to)));
          return choice(...parts, ...(accepts ? [text('')] : []));
        },
        keyword,
      );
    return rest(0);
  }

  /** Returns the JSON form of these texts, without an automaton. */
  private written(expression: Expression, path: string): Expression {
    switch (expression.kind) {
      case 'characters':
        return this.rule(`characters ${expression.ranges}`, path, () => writtenCharacters(expression.ranges));
      case 'repeat':
        return { ...expression, part: this.written(expression.part, path) };
      case 'sequence':
      case 'choice':
        return { ...expression, parts: expression.parts.map((part) => this.written(part, path)) };
      default:
        return expression;
    }
  }

  private array(keywords: Keywords, path: string): Expression {
    const { items, prefixItems = [], minItems = 0, maxItems = Number.POSITIVE_INFINITY } = keywords;
    const [min, max] = [minItems as number, maxItems as number];
    const first = (prefixItems as Json[])
      .slice(0, max)
      .map((item, i) => this.ruleOf(item, `${path}.prefixItems[${i}]`));
    const least = Math.max(0, min - first.length);
    // A tuple has further items only if the schema asks for them.
    const isClosed = items === false || (items === undefined && first.length > 0 && least === 0);
    const most = isClosed ? 0 : max - first.length;
    if (least > most) {
      this.problem ??= `minItems at ${path} is more than the array may have`;
      return NOTHING;
    }
    if (most === 0) return list('[', first, ']');
    const item = this.ruleOf(items ?? true, `${path}.items`);
    const further = repeat(sequence(COMMA, item), Math.max(0, least - 1), most - 1);
    if (first.length > 0) return list('[', [...first, repeat(sequence(COMMA, item), least, most)], ']', first.length);
    const some = sequence(item, further);
    return sequence(text('['), least === 0 ? optional(some) : some, text(']'));
  }

  private object(keywords: Keywords, path: string): Expression {
    const { additionalProperties = true, propertyNames, minProperties = 0, maxProperties } = keywords;
    const [min, max] = [minProperties as number, (maxProperties ?? Number.POSITIVE_INFINITY) as number];
    const declared = (keywords.properties ?? {}) as JsonObject;
    const required = new Set((keywords.required ?? []) as string[]);
    const names = [...new Set([...Object.keys(declared), ...required])];
    if (names.length === 0 && additionalProperties !== false) {
      if (min > 1) throw new UnsupportedSchema(path, 'minProperties is not supported: use required');
      const key = propertyNames === undefined ? this.string({}, path) : this.keys(propertyNames, path);
      const entry = sequence(key, COLON, this.ruleOf(additionalProperties, `${path}.additionalProperties`));
      const some = sequence(entry, repeat(sequence(COMMA, entry), 0, max - 1));
      const entries = min === 1 ? some : optional(some);
      return sequence(text('{'), max === 0 ? text('') : entries, text('}'));
    }
    if (propertyNames !== undefined && !(names.length === 0 || isAnyName(propertyNames)))
      throw new UnsupportedSchema(path, 'propertyNames beside properties is not supported');
    if (min > required.size) throw new UnsupportedSchema(path, 'minProperties is not supported: use required');
    if (max < names.length) throw new UnsupportedSchema(path, 'maxProperties is not supported beside properties');
    const entries = names.map((name) => {
      const schema = Object.hasOwn(declared, name) ? (declared[name] as Json) : additionalProperties;
      const value = this.ruleOf(schema, `${path}.properties.${name}`);
      return { entry: sequence(text(JSON.stringify(name)), COLON, value), required: required.has(name) };
    });
    return sequence(text('{'), this.entries(entries, path), text('}'));
  }

  private keys(schema: Json, path: string): Expression {
    return this.ruleOf(allOf({ type: 'string' }, schema), `${path}.propertyNames`);
  }

  /** Builds the entries from the last to the first: `behind` follows another entry, `first` begins the object. */
  private entries(all: readonly { readonly entry: Expression; readonly required: boolean }[], path: string) {
    let behind: Expression = text('');
    let first: Expression = text('');
    for (const { entry, required } of [...all].reverse()) {
      const [after, alone] = [behind, first];
      const own = this.fresh(entry, path);
      const chosen = sequence(COMMA, own, after);
      behind = this.fresh(required ? chosen : choice(chosen, after), path);
      first = this.fresh(required ? sequence(own, after) : choice(sequence(own, after), alone), path);
    }
    return first;
  }

  private fresh(expression: Expression, path: string): Expression {
    return this.rule(`entry ${this.names.size}`, path, () => expression, 'properties');
  }
}

/** Loads the validator only for a schema that needs it, because loading takes longer than making most grammars. */
const ajv = (): typeof AjvClass => require('ajv/dist/2020.js').default;

const isAnyName = (schema: Json): boolean => schema === true || JSON.stringify(schema) === '{"type":"string"}';

/** Returns the last keyword of a path. Names and numbers after it do not count. */
const lastKeyword = (path: string): string => /.*\.(\w+)(?:\[\d+\]|\.[^.]*)?$/s.exec(path)?.[1] ?? 'it';

function list(open: string, parts: readonly Expression[], close: string, separated = parts.length): Expression {
  const all = parts.flatMap((part, i) => (i === 0 || i >= separated ? [part] : [COMMA, part]));
  return sequence(text(open), ...all, text(close));
}

function writtenCharacters(ranges: readonly Range[]): Expression {
  const within = (code: number) => ranges.some(([first, last]) => first <= code && code <= last);
  const plain = PLAIN.flatMap(([first, last]) =>
    ranges.map(([from, to]): Range => [Math.max(first, from), Math.min(last, to)]).filter(([from, to]) => from <= to),
  );
  const escaped = [...ESCAPED].filter((character) => within(character.charCodeAt(0)));
  return choice(
    ...(plain.length > 0 ? [characters(...plain)] : []),
    ...escaped.map((character) => text(JSON.stringify(character).slice(1, -1))),
  );
}
