/** Makes the grammar of a JSON schema. It matches only texts that the schema allows, but not always all of them. */
import type { Json, JsonObject } from '../../../../domain/workspace/json.js';
import type { State } from './automaton.js';
import {
  bytes,
  characters,
  choice,
  type Expression,
  Grammar,
  NOTHING,
  optional,
  repeat,
  sequence,
  text,
} from './expression.js';
import { COLON, COMMA, list, writtenCharacters } from './json-text.js';
import { type TextTree, textTreeOf, valuesOf } from './listed-values.js';
import { UnsupportedPattern } from './pattern.js';
import { allOf, isAnyName, type Keywords, lastKeyword, Schemas, typesOf, UnsupportedSchema } from './schema.js';
import { BOUNDS, numbersOf, stringsOf, type Texts } from './texts.js';

/** A schema with more rules takes too long to compile. */
const MAX_RULES = 5_000;
/** The most places where listed values branch. Their rules are simple. As many values always have fewer places. */
const MAX_BRANCHINGS = 10_000;

/** Returns the grammar in the notation of XGrammar. Throws UnsupportedSchema for a schema without such a grammar. */
export function grammarOf(schema: Json, path: string): string {
  const grammar = new Grammar();
  return grammar.print(addValues(grammar, schema, path).name);
}

/** Adds the rules for the values of a schema. Throws UnsupportedSchema for a schema without such rules. */
export function addValues(grammar: Grammar, schema: Json, path: string): Rule {
  const maker = new JsonGrammar(schema, grammar);
  const root = maker.ruleOf(schema, path);
  if (maker.isEndless) throw new UnsupportedSchema(path, '$ref or anyOf refers to itself without anything between');
  if (!grammar.matches(root.name))
    throw new UnsupportedSchema(path, maker.problem ?? 'describes no value at all: check its type, anyOf and $ref');
  return root;
}

export type Rule = Expression & { kind: 'rule' };
type Branches = readonly (readonly [schema: Json, path: string])[];

class JsonGrammar {
  /** The reason why a part of the schema has no values, if it is known. */
  problem: string | null = null;
  private readonly names = new Map<string, string>();
  private branchings = 0;
  private readonly schemas: Schemas;
  private readonly branches = new Map<Keywords, Branches | null>();
  /** The results of `listOf` by the JSON of the schema. */
  private readonly lists = new Map<string, readonly string[] | null>();

  constructor(
    private readonly root: Json,
    private readonly grammar: Grammar,
  ) {
    this.schemas = new Schemas(root);
  }

  get isEndless(): boolean {
    return this.grammar.endlessOf(this.names.values()) !== null;
  }

  ruleOf(schema: Json, path: string): Rule {
    return this.rule(JSON.stringify(schema), path, () => {
      const list = this.listOf(schema, path);
      return list ? this.tree(textTreeOf(list), path) : this.values(this.schemas.keywordsOf(schema, path), path);
    });
  }

  private rule(key: string, path: string, make: () => Expression, keyword = lastKeyword(path)): Rule {
    const known = this.names.get(key);
    if (known !== undefined) return { kind: 'rule', name: known };
    const name = this.grammar.nextName();
    if (this.names.size - this.branchings > MAX_RULES)
      throw new UnsupportedSchema(path, `${keyword} makes the schema too large: more than ${MAX_RULES} rules`);
    this.names.set(key, name);
    this.grammar.rules.set(name, make());
    return { kind: 'rule', name };
  }

  /** Returns the values of a schema that does not list them. */
  private values(keywords: Keywords, path: string): Expression {
    const branches = this.branchesOf(keywords, path);
    if (!branches) return choice(...typesOf(keywords).map((type) => this.valuesOfType(type, keywords, path)));
    const lists = branches.map(([one, at]) => this.listOf(one, at));
    const listed = textTreeOf(lists.flatMap((list) => list ?? []));
    const others = branches.filter((_, i) => lists[i] === null).map(([one, at]) => this.ruleOf(one, at));
    return choice(this.fresh(this.tree(listed, path), path), ...others);
  }

  /** Returns the schemas of `anyOf` or `oneOf`, each with the other keywords and its path. Returns null without them. */
  private branchesOf(keywords: Keywords, path: string): Branches | null {
    const known = this.branches.get(keywords);
    if (known !== undefined) return known;
    const { anyOf, oneOf, ...others } = keywords;
    if (oneOf !== undefined) this.requireDisjoint(oneOf as Json[], path);
    const [branches, name, rest] = anyOf
      ? [anyOf as Json[], 'anyOf', { ...others, ...(oneOf !== undefined && { oneOf }) }]
      : [oneOf as Json[] | undefined, 'oneOf', others];
    const all: Json = Object.keys(rest).length === 0 ? true : rest;
    const found: Branches | null = branches?.map((one, i) => [allOf(all, one), `${path}.${name}[${i}]`]) ?? null;
    this.branches.set(keywords, found);
    return found;
  }

  private requireDisjoint(branches: readonly Json[], path: string): void {
    for (const [i, one] of branches.entries())
      for (const other of branches.slice(i + 1))
        if (!this.schemas.areDisjoint(one, other, path))
          throw new UnsupportedSchema(path, 'oneOf of schemas that may overlap is not supported: use anyOf');
  }

  /** Returns all values that the schema allows, as JSON, or null if it does not list them. */
  private listOf(schema: Json, path: string): readonly string[] | null {
    const key = JSON.stringify(schema);
    const known = this.lists.get(key);
    if (known !== undefined) return known;
    this.lists.set(key, null); // for a schema that refers to itself
    const keywords = this.schemas.keywordsOf(schema, path);
    const lists = this.branchesOf(keywords, path)?.map(([one, at]) => this.listOf(one, at));
    const own = lists ? null : valuesOf(keywords, this.root);
    const all = lists?.flatMap((list) => list ?? []) ?? own?.map((value) => JSON.stringify(value));
    const list = all && !lists?.includes(null) ? [...new Set(all)] : null;
    if (list?.length === 0) this.problem ??= `enum or const at ${path} has no valid value`;
    this.lists.set(key, list);
    return list;
  }

  /** Returns the texts of a tree. */
  private tree({ accepts, edges }: TextTree, path: string): Expression {
    const parts = edges.map(([some, to]) => {
      if (to.edges.length === 0) return bytes(some);
      return sequence(bytes(some), this.branching(this.tree(to, path), path));
    });
    return choice(...parts, ...(accepts ? [text('')] : []));
  }

  /** Returns the rule of a place where values branch. Places with the same ends share it. */
  private branching(expression: Expression, path: string): Rule {
    const key = `branching ${JSON.stringify(expression)}`;
    if (!this.names.has(key) && ++this.branchings > MAX_BRANCHINGS)
      throw new UnsupportedSchema(path, `enum is too long: only ${MAX_BRANCHINGS} values are sure to fit`);
    return this.rule(key, path, () => expression);
  }

  private valuesOfType(type: string, keywords: Keywords, path: string): Expression {
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
    const names = [...BOUNDS, 'multipleOf'].filter((name) => name in keywords);
    const none = () => {
      this.problem ??= `${names.join(' and ')} at ${path} leave no number of 15 digits`;
      return { expression: NOTHING };
    };
    return this.texts(() => numbersOf(keywords, integer) ?? none(), path, names.at(-1) ?? 'type');
  }

  private string(keywords: Keywords, path: string): Expression {
    const { minLength: min = 0, maxLength: max = Number.POSITIVE_INFINITY } = keywords;
    const names = ['pattern', 'format', 'maxLength', 'minLength'].filter((name) => name in keywords);
    if ((min as number) > (max as number)) {
      this.problem ??= `minLength at ${path} is more than maxLength`;
      return NOTHING;
    }
    const none = () => {
      this.problem ??= `${names.join(' and ')} at ${path} leave no string`;
      return { expression: NOTHING };
    };
    const written = this.texts(() => stringsOf(keywords) ?? none(), path, names[0] ?? 'type');
    return sequence(text('"'), written, text('"'));
  }

  /** Returns the JSON form of these texts: the rules of their automaton, if they have one. */
  private texts(find: () => Texts, path: string, keyword: string): Expression {
    let found: Texts;
    try {
      found = find();
    } catch (error) {
      if (error instanceof UnsupportedPattern) throw new UnsupportedSchema(path, `${keyword} ${error.message}`);
      if (error instanceof RangeError) throw new UnsupportedSchema(path, `${keyword} is too deep or too long`);
      throw error;
    }
    if ('expression' in found) return this.written(found.expression, path);
    const { states } = found;
    const key = JSON.stringify(states);
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
      const wanted = allOf({ type: 'string' }, propertyNames ?? true);
      const key = propertyNames === undefined ? this.string({}, path) : this.ruleOf(wanted, `${path}.propertyNames`);
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

  /** Builds the entries from the last to the first: `behind` follows another entry, `first` begins the object. */
  private entries(all: readonly { readonly entry: Expression; readonly required: boolean }[], path: string) {
    let behind: Expression = text('');
    let first: Expression = text('');
    for (const { entry, required } of [...all].reverse()) {
      const [after, alone] = [behind, first];
      const own = this.fresh(entry, path, 'properties');
      const chosen = sequence(COMMA, own, after);
      behind = this.fresh(required ? chosen : choice(chosen, after), path, 'properties');
      first = this.fresh(required ? sequence(own, after) : choice(sequence(own, after), alone), path, 'properties');
    }
    return first;
  }

  private fresh(expression: Expression, path: string, keyword = 'enum'): Expression {
    return this.rule(`part ${this.names.size}`, path, () => expression, keyword);
  }
}
