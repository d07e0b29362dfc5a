/** Combines automata: texts that are in all, in any, or not in some of them. */
import { type State, smallest } from './automaton.js';
import type { Range } from './expression.js';

/** A set of texts. A `not` must stand in an `all`, beside a language that is no `not`. */
export type Language =
  | { readonly kind: 'states'; readonly states: readonly State[] }
  | { readonly kind: 'all' | 'any'; readonly parts: readonly Language[] }
  | { readonly kind: 'not'; readonly part: Language };

export const all = (...parts: Language[]): Language => ({ kind: 'all', parts });
export const any = (...parts: Language[]): Language => ({ kind: 'any', parts });
export const not = (part: Language): Language => ({ kind: 'not', part });

/** The most states to follow before equal states are merged. */
const MAX_PRODUCT = 5_000;

/** Returns the smallest automaton of the language, without states for no text, or null if there are too many. */
export function automatonOfLanguage(language: Language, maxStates: number): State[] | null {
  const leaves = new Set<readonly State[]>();
  collect(language, leaves);
  const automata = [...leaves];
  const symbols = symbolsOf(automata);
  const steps = automata.map((states) => states.map((state) => symbols.map((symbol) => target(state, symbol))));
  const indexes = new Map(automata.map((states, i) => [states, i]));
  const isIn = (one: Language, at: readonly number[], leaf: (states: readonly State[], id: number) => boolean) =>
    holds(one, (states) => leaf(states, at[indexes.get(states) as number] as number));
  const mayAccept = (at: readonly number[]) => mayHold(language, (states) => at[indexes.get(states) as number] !== -1);

  const ids = new Map<string, number>();
  const found: (readonly number[])[] = [];
  const idOf = (at: readonly number[]): number => {
    if (!mayAccept(at)) return -1;
    const key = at.join();
    if (!ids.has(key)) ids.set(key, found.push(at) - 1);
    return ids.get(key) as number;
  };
  idOf(automata.map(() => 0));
  const next: number[][] = [];
  for (let id = 0; id < found.length; id++) {
    if (found.length > MAX_PRODUCT) return null;
    const from = found[id] as readonly number[];
    next.push(symbols.map((_, symbol) => idOf(from.map((at, i) => steps[i]?.[at]?.[symbol] ?? -1))));
  }
  const accepts = found.map((at) => isIn(language, at, (states, id) => states[id]?.accepts ?? false));
  const live = liveOf(next, accepts);
  if (!live.has(0)) return [];
  const places = new Map([...live].sort((a, b) => a - b).map((id, place) => [id, place]));
  const kept = [...places.keys()];
  const states = smallest(
    kept.map((id) => (next[id] as number[]).map((to) => places.get(to) ?? -1)),
    kept.map((id) => accepts[id] as boolean),
    symbols,
  );
  return states.length > maxStates ? null : states;
}

function collect(language: Language, leaves: Set<readonly State[]>): void {
  if (language.kind === 'states') leaves.add(language.states);
  else if (language.kind === 'not') collect(language.part, leaves);
  else for (const part of language.parts) collect(part, leaves);
}

function holds(language: Language, leaf: (states: readonly State[]) => boolean): boolean {
  if (language.kind === 'states') return leaf(language.states);
  if (language.kind === 'not') return !holds(language.part, leaf);
  return language.kind === 'all'
    ? language.parts.every((part) => holds(part, leaf))
    : language.parts.some((part) => holds(part, leaf));
}

/** Returns false if no text can follow. */
function mayHold(language: Language, isAlive: (states: readonly State[]) => boolean): boolean {
  if (language.kind === 'not') return true;
  if (language.kind === 'states') return isAlive(language.states);
  return language.kind === 'all'
    ? language.parts.every((part) => mayHold(part, isAlive))
    : language.parts.some((part) => mayHold(part, isAlive));
}

const target = ({ edges }: State, [first]: Range): number =>
  edges.find(([ranges]) => ranges.some(([from, to]) => from <= first && first <= to))?.[1] ?? -1;

/** Divides the characters into ranges that all automata treat alike. */
function symbolsOf(automata: readonly (readonly State[])[]): Range[] {
  const ranges = automata.flatMap((states) => states.flatMap(({ edges }) => edges.flatMap(([some]) => some)));
  const cuts = [...new Set(ranges.flatMap(([first, last]) => [first, last + 1]))].sort((a, b) => a - b);
  return cuts.slice(1).map((cut, i): Range => [cuts[i] as number, cut - 1]);
}

/** Returns the states from which a text can end. */
function liveOf(next: readonly (readonly number[])[], accepts: readonly boolean[]): Set<number> {
  const before = next.map((): number[] => []);
  for (const [id, row] of next.entries()) for (const to of new Set(row)) before[to]?.push(id);
  const live = new Set(accepts.flatMap((is, id) => (is ? [id] : [])));
  for (const id of live) for (const one of before[id] as number[]) live.add(one);
  return live;
}

/** Returns the least and the greatest length of the automaton's texts. All its states must lead to an end. */
export function lengthsOfStates(states: readonly State[]): readonly [number, number] {
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  let reached = new Set([0]);
  for (let length = 0; reached.size > 0; length++) {
    if (length > states.length) return [least, Number.POSITIVE_INFINITY];
    if ([...reached].some((id) => states[id]?.accepts)) [least, most] = [Math.min(least, length), length];
    reached = new Set([...reached].flatMap((id) => (states[id] as State).edges.map(([, to]) => to)));
  }
  return [least, most];
}

/** Returns an automaton of the texts with `least` to `most` characters. */
export function statesOfLength(least: number, most: number): State[] {
  const isBounded = most !== Number.POSITIVE_INFINITY;
  const last = isBounded ? most : least;
  return Array.from({ length: last + 1 }, (_, id) => ({
    accepts: id >= least,
    edges: id === last && isBounded ? [] : [[[[0, 0x10ffff]], Math.min(id + 1, last)] as const],
  }));
}

/** Returns an automaton of the integers that are multiples of `divisor`. */
export function multiplesOf(divisor: number): State[] {
  const digits = (rest: number) =>
    Array.from(
      { length: 10 },
      (_, digit) => [[[48 + digit, 48 + digit]], ((rest * 10 + digit) % divisor) + 2] as const,
    );
  return [
    { accepts: false, edges: [[[[45, 45]], 1], ...digits(0)] },
    { accepts: false, edges: digits(0) },
    ...Array.from({ length: divisor }, (_, rest) => ({ accepts: rest === 0, edges: digits(rest) })),
  ];
}
