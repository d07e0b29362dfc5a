/** Makes deterministic automata, with which XGrammar is exact, and fast even if a text matches in many ways. */
import { characters, type Expression, type Range, repeat } from './expression.js';
import { lengthsOf } from './lengths.js';

export interface State {
  /** The text may end here. */
  readonly accepts: boolean;
  /** Each character of the ranges leads to the state `to`. */
  readonly edges: readonly (readonly [ranges: readonly Range[], to: number])[];
}

/** The parts that must still match, in order. */
type Rest = readonly Expression[];
/** The next character, and the parts that must match after it. */
type Move = readonly [ranges: readonly Range[], rest: Rest];

/** The most `Rest`s to follow before equal states are merged, for each state that the automaton may have. */
const MAX_RESTS = 60;

/** Returns whether the expression repeats a part of variable length, so that a text can match in very many ways. */
export function isNested(expression: Expression): boolean {
  if (expression.kind === 'repeat') {
    const [shortest, longest] = lengthsOf(expression.part);
    return (expression.max > 1 && shortest !== longest) || isNested(expression.part);
  }
  return 'parts' in expression && expression.parts.some(isNested);
}

/** Returns the states of the smallest automaton for the expression, its start first, or null if there are too many. */
export function automatonOf(whole: Expression, maxStates: number): State[] | null {
  const symbols = symbolsOf(whole);
  const moves = new Moves();
  const ids = new Map<string, number>();
  const all: Rest[][] = [];
  let work = 0;
  const idOf = (rests: readonly Rest[]): number => {
    const unique = new Map(rests.map((rest) => [moves.keyOf(rest), rest]));
    const key = [...unique.keys()].sort().join(';');
    const id = ids.get(key) ?? all.length;
    if (id < all.length) return id;
    work += unique.size;
    ids.set(key, id);
    all.push([...unique.values()]);
    return id;
  };
  idOf([[whole]]);
  const next: number[][] = [];
  for (let id = 0; id < all.length; id++) {
    if (work > MAX_RESTS * maxStates || all.length > 2 * maxStates) return null;
    const possible = (all[id] as Rest[]).flatMap((rest) => moves.from(rest));
    const reached = symbols.map(([first]) =>
      possible.filter(([ranges]) => within(ranges, first)).map(([, rest]) => rest),
    );
    next.push(reached.map((rests) => (rests.length === 0 ? -1 : idOf(rests))));
  }
  const accepts = all.map((rests) => rests.some((rest) => rest.every(mayBeEmpty)));
  const states = smallest(next, accepts, symbols);
  return states.length > maxStates ? null : states;
}

/** Merges states that accept the same texts (Moore's algorithm). */
export function smallest(next: readonly number[][], accepts: readonly boolean[], symbols: readonly Range[]): State[] {
  let groups = accepts.map(Number);
  for (let count = 0; count < new Set(groups).size; ) {
    count = new Set(groups).size;
    const ids = new Map<string, number>();
    const before = groups;
    groups = next.map((row, id) => {
      const key = [before[id], ...row.map((to) => before[to] ?? -1)].join();
      if (!ids.has(key)) ids.set(key, ids.size);
      return ids.get(key) as number;
    });
  }
  const firsts = [...new Set(groups)].map((group) => groups.indexOf(group));
  return firsts.map((id) => {
    const edges = new Map<number, Range[]>();
    for (const [symbol, to] of (next[id] as number[]).entries()) {
      if (to < 0) continue;
      const group = groups[to] as number;
      edges.set(group, [...(edges.get(group) ?? []), symbols[symbol] as Range]);
    }
    return { accepts: accepts[id] as boolean, edges: [...edges].map(([to, ranges]) => [ranges, to] as const) };
  });
}

class Moves {
  private readonly ids = new Map<Expression, number>();
  private readonly repeats = new Map<string, Expression>();
  private readonly known = new Map<string, readonly Move[]>();

  keyOf(rest: Rest): string {
    return rest.map((part) => this.idOf(part)).join();
  }

  /** Returns the characters that may come next, each with the parts that must match after it. */
  from(rest: Rest): readonly Move[] {
    const key = this.keyOf(rest);
    const found = this.known.get(key) ?? this.find(rest);
    this.known.set(key, found);
    return found;
  }

  private find([first, ...others]: Rest): readonly Move[] {
    if (first === undefined) return [];
    if (first.kind === 'characters') return [[first.ranges, others]];
    if (first.kind === 'text') return this.from([...spelled(first.text), ...others]);
    if (first.kind === 'sequence') return this.from([...first.parts, ...others]);
    if (first.kind === 'choice') return first.parts.flatMap((part) => this.from([part, ...others]));
    if (first.kind === 'rule' || first.kind === 'bytes') throw new Error('an automaton has only characters inside');
    const again = first.max > 1 ? [this.fewer(first)] : [];
    const taken = first.max === 0 ? [] : this.from([first.part]);
    const moves = taken.map(([ranges, rest]): Move => [ranges, [...rest, ...again, ...others]]);
    return mayBeEmpty(first) ? [...moves, ...this.from(others)] : moves;
  }

  /** Returns the repetition that is left after its part has matched once. */
  private fewer({ part, min, max }: Expression & { kind: 'repeat' }): Expression {
    const key = `${this.idOf(part)},${Math.max(0, min - 1)},${max - 1}`;
    const found = this.repeats.get(key) ?? repeat(part, Math.max(0, min - 1), max - 1);
    this.repeats.set(key, found);
    return found;
  }

  private idOf(expression: Expression): number {
    const id = this.ids.get(expression) ?? this.ids.size;
    this.ids.set(expression, id);
    return id;
  }
}

const spelled = (text: string): Expression[] =>
  [...text].map((character) => characters([character.codePointAt(0) as number, character.codePointAt(0) as number]));

const mayBeEmpty = (expression: Expression): boolean => lengthsOf(expression)[0] === 0;

const within = (ranges: readonly Range[], code: number): boolean =>
  ranges.some(([first, last]) => first <= code && code <= last);

/** Divides the characters into ranges. All parts of the expression treat the characters of one range alike. */
function symbolsOf(whole: Expression): Range[] {
  const cuts = new Set<number>();
  const collect = (expression: Expression): void => {
    if (expression.kind === 'characters') for (const [first, last] of expression.ranges) cuts.add(first).add(last + 1);
    if (expression.kind === 'text') spelled(expression.text).forEach(collect);
    if (expression.kind === 'repeat') collect(expression.part);
    if ('parts' in expression) for (const part of expression.parts) collect(part);
  };
  collect(whole);
  const sorted = [...cuts].sort((a, b) => a - b);
  return sorted.slice(1).map((cut, i): Range => [sorted[i] as number, cut - 1]);
}
