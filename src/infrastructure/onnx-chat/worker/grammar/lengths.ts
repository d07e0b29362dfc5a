/** Limits the length of the texts of an expression. */
import { choice, type Expression, NOTHING, repeat, sequence } from './expression.js';
import { UnsupportedPattern } from './pattern.js';

/** Returns the least and the greatest length of the expression's texts, in characters. */
export function lengthsOf(expression: Expression): readonly [number, number] {
  if (expression.kind === 'characters') return [1, 1];
  if (expression.kind === 'text') return [expression.text.length, expression.text.length];
  if (expression.kind === 'repeat') {
    const [least, most] = lengthsOf(expression.part);
    return [least * expression.min, most === 0 || expression.max === 0 ? 0 : most * expression.max];
  }
  const parts = 'parts' in expression ? expression.parts.map(lengthsOf) : [];
  const [least, most] = [parts.map(([one]) => one), parts.map(([, one]) => one)];
  if (expression.kind === 'choice') return [Math.min(...least), Math.max(...most)];
  return [least.reduce((a, b) => a + b, 0), most.reduce((a, b) => a + b, 0)];
}

/** More cases than this would make the grammar too large. */
const MAX_CASES = 2_000;

/**
 * Returns the texts of `whole` that have from `least` to `most` characters. If they need too many cases, returns only
 * those that repeat parts less often. Throws UnsupportedPattern if these need too many cases as well.
 */
export function ofLength(whole: Expression, least: number, most: number): Expression {
  try {
    return allOfLength(whole, least, most);
  } catch (error) {
    let times = most;
    while (times >= 1 && lengthsOf(atMost(whole, times))[1] > most) times = Math.floor(times / 2);
    if (times < 1 || times === Number.POSITIVE_INFINITY) throw error;
    return allOfLength(atMost(whole, times), least, most);
  }
}

/** Limits each repetition to `times`, or to its minimum if the minimum is greater. */
function atMost(expression: Expression, times: number): Expression {
  if (expression.kind === 'repeat') {
    const { part, min, max } = expression;
    return repeat(atMost(part, times), min, Math.max(min, Math.min(max, times)));
  }
  return 'parts' in expression
    ? { ...expression, parts: expression.parts.map((part) => atMost(part, times)) }
    : expression;
}

function allOfLength(whole: Expression, least: number, most: number): Expression {
  let cases = 0;
  const bounded = (expression: Expression, from: number, to: number): Expression => {
    const [lowest, highest] = lengthsOf(expression);
    const [min, max] = [Math.max(from, lowest), Math.min(to, highest)];
    if (min > max) return NOTHING;
    if (min === lowest && max === highest) return expression;
    if (++cases > MAX_CASES)
      throw new UnsupportedPattern('is too complex beside minLength or maxLength: give it the lengths itself');
    if (expression.kind === 'choice') return choice(...expression.parts.map((part) => bounded(part, min, max)));
    if (expression.kind === 'sequence') {
      const [head = sequence(), ...rest] = expression.parts;
      return rest.length === 0 ? bounded(head, min, max) : followed(head, sequence(...rest), min, max);
    }
    if (expression.kind !== 'repeat') return expression;
    const { part, min: fewest, max: greatest } = expression;
    const [short, long] = lengthsOf(part);
    if (short === long) return repeat(part, Math.ceil(min / short), Math.floor(max / short));
    if (short === 0) return bounded(repeat(bounded(part, 1, long), 0, greatest), min, max);
    if (fewest === 0)
      return choice(...(min === 0 ? [sequence()] : []), bounded(repeat(part, 1, greatest), Math.max(min, 1), max));
    return followed(part, repeat(part, fewest - 1, greatest - 1), min, max);
  };
  /** Returns the texts of `head` followed by `rest`, with a case for each length of the head. */
  const followed = (head: Expression, rest: Expression, min: number, max: number): Expression => {
    const [[short, long], [restShort, restLong]] = [lengthsOf(head), lengthsOf(rest)];
    if (restShort === restLong) return sequence(bounded(head, min - restShort, max - restShort), rest);
    const parts: Expression[] = [];
    const last = Math.min(long, max - restShort);
    for (let length = short; length <= last; length++) {
      const free = length + restShort >= min && max === Number.POSITIVE_INFINITY;
      const first = bounded(head, length, free ? last : length);
      parts.push(sequence(first, bounded(rest, min - length, max - length)));
      if (free) break;
    }
    return choice(...parts);
  };
  return bounded(whole, least, most);
}
