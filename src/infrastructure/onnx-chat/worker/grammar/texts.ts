/** Finds the texts that a schema of strings or numbers allows. All its keywords hold at once. */
import type { JsonObject } from '../../../../domain/workspace/json.js';
import { automatonOf, isNested, type State } from './automaton.js';
import { characters, choice, type Expression, NOTHING, repeat, sequence } from './expression.js';
import { patternsOf } from './formats.js';
import {
  all,
  any,
  automatonOfLanguage,
  type Language,
  lengthsOfStates,
  multiplesOf,
  not,
  statesOfLength,
} from './language.js';
import { ofLength } from './lengths.js';
import { numbers } from './numbers.js';
import { type Pattern, patternFrom, UnsupportedPattern, wholeOf } from './pattern.js';
import type { Keywords } from './schema.js';

/** The most states of an automaton for a string or a number with nested repetitions. */
const MAX_STATES = 500;
/** The most states without nested repetitions. XGrammar is faster without an automaton than with a larger one. */
const FEW_STATES = 100;
/** The most states of a part that is combined with others. */
const MAX_PART = 1_000;

/** Texts as an automaton, or as an expression if an automaton would be slower. */
export type Texts = { readonly states: readonly State[] } | { readonly expression: Expression };

/** Returns the texts of an expression. Throws UnsupportedPattern if they need too many states. */
function textsOf(expression: Expression): Texts {
  const states = automatonOf(expression, isNested(expression) ? MAX_STATES : FEW_STATES);
  if (states) return { states };
  if (isNested(expression))
    throw new UnsupportedPattern(`needs more than ${MAX_STATES} states: nest fewer repetitions`);
  return { expression };
}

/** Returns the texts that the keywords allow, or null if they leave none. Throws UnsupportedPattern. */
export function stringsOf(keywords: Keywords): Texts | null {
  const { minLength: least = 0, maxLength: most = Number.POSITIVE_INFINITY } = keywords as Record<string, number>;
  const parts = [keywords, ...((keywords.allOf ?? []) as JsonObject[])];
  const valuesOf = (name: string) => parts.flatMap((part) => (part[name] === undefined ? [] : [part[name] as string]));
  const patterns = valuesOf('pattern').map(patternFrom);
  const formats = valuesOf('format')
    .map(patternsOf)
    .filter((sources) => sources.length > 0);
  if (patterns.length + formats.length === 0)
    return textsOf(ofLength(repeat(characters([0, 0x10ffff]), 0), least, most));
  const narrow = [...patterns, ...formats.map(([source = '']) => patternFrom(source))];
  const own = narrow.length === 1 ? wholeOf(narrow[0] as Pattern) : null;
  const texts = own && textsOf(ofLength(own, least, most));
  if (texts && !isEmpty(texts)) return texts;
  const wide = [...patterns, ...formats.map(([, source = '']) => patternFrom(source))];
  for (const matches of [whole, found])
    for (const some of [narrow, wide]) {
      const states = combined(all(...some.map(matches)), least, most);
      if (states.length > 0) return { states };
    }
  return null;
}

export const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];
/** The largest `multipleOf`. A larger one needs too many states. */
const MAX_DIVISOR = 100;

/** Returns the numbers that the keywords allow, or null if they leave none. Throws UnsupportedPattern. */
export function numbersOf(keywords: Keywords, integer: boolean): Texts | null {
  const { multipleOf: divisor } = keywords as { multipleOf?: number };
  const bounds = Object.fromEntries(BOUNDS.flatMap((name) => (name in keywords ? [[name, keywords[name]]] : [])));
  const found = numbers(bounds, integer || divisor !== undefined);
  if (found === NOTHING) return null;
  if (divisor === undefined) return textsOf(found);
  if (!Number.isInteger(divisor) || divisor < 1 || divisor > MAX_DIVISOR)
    throw new UnsupportedPattern(`is supported only for integers from 1 to ${MAX_DIVISOR}`);
  const states = automatonOfLanguage(
    all(statesOf(found), { kind: 'states', states: multiplesOf(divisor) }),
    MAX_STATES,
  );
  if (!states) throw new UnsupportedPattern('needs too many states: set closer minimum and maximum');
  return states.length === 0 ? null : { states };
}

const isEmpty = (texts: Texts): boolean => 'states' in texts && texts.states.every(({ accepts }) => !accepts);

/** Returns the texts of a pattern that match from start to end. */
const whole = (pattern: Pattern): Language => languageOf(pattern, () => false);
/** Returns the texts with a match anywhere, but at an end with look-around only those that match up to there. */
const found = (pattern: Pattern): Language => languageOf(pattern, (isFixed) => !isFixed);

function languageOf({ alternatives, anything }: Pattern, isOpen: (isFixed: boolean) => boolean): Language {
  const texts = (isOpenBefore: boolean, body: Expression, isOpenAfter: boolean): Language =>
    statesOf(sequence(...(isOpenBefore ? [anything] : []), body, ...(isOpenAfter ? [anything] : [])));
  const look = (isAhead: boolean) => (one: Pattern['alternatives'][number]['ahead'][number]) => {
    const language = any(
      ...one.alternatives.map(({ body, isAtStart, isAtEnd }) =>
        texts(!isAhead && !isAtStart, body, isAhead && !isAtEnd),
      ),
    );
    return one.isNegative ? not(language) : language;
  };
  const plain = alternatives.filter(({ ahead, behind }) => ahead.length + behind.length === 0);
  const openings = plain.map(({ body, isAtStart, isAtEnd }) =>
    sequence(...(isOpen(isAtStart) ? [anything] : []), body, ...(isOpen(isAtEnd) ? [anything] : [])),
  );
  const looking = alternatives
    .filter((one) => !plain.includes(one))
    .map(({ isAtStart, isAtEnd, ahead, behind, body }) =>
      all(
        texts(isOpen(isAtStart || ahead.length > 0), body, isOpen(isAtEnd || behind.length > 0)),
        ...ahead.map(look(true)),
        ...behind.map(look(false)),
      ),
    );
  return any(...(openings.length > 0 ? [statesOf(choice(...openings))] : []), ...looking);
}

function statesOf(expression: Expression): Language {
  const states = automatonOf(expression, MAX_PART);
  if (!states) throw new UnsupportedPattern(`needs more than ${MAX_PART} states beside other keywords`);
  return { kind: 'states', states };
}

/**
 * Returns an automaton of the texts with `least` to `most` characters, without states if there are none. If it has too
 * many states, returns only shorter texts.
 */
function combined(language: Language, least: number, most: number): readonly State[] {
  const tooMany = new UnsupportedPattern(`needs more than ${MAX_STATES} states together with the other keywords`);
  const free = automatonOfLanguage(language, MAX_PART);
  if (!free) throw tooMany;
  if (free.length === 0) return free;
  const [shortest, longest] = lengthsOfStates(free);
  const isFree = shortest >= least && longest <= most;
  if (isFree && free.length <= MAX_STATES) return free;
  if (least > MAX_STATES) throw tooMany;
  let to = most === Number.POSITIVE_INFINITY ? most : Math.min(most, longest, least + MAX_STATES);
  for (;;) {
    const limited = all({ kind: 'states', states: free }, { kind: 'states', states: statesOfLength(least, to) });
    const states = automatonOfLanguage(limited, MAX_STATES);
    if (states && (states.length > 0 || to === most || to >= longest)) return states;
    if (states || to <= Math.max(least, shortest)) throw tooMany;
    to = Math.max(least, shortest, Math.floor(Math.min(to, least + 2 * MAX_STATES) / 2));
  }
}
