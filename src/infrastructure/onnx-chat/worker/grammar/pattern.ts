/** Makes expressions from regular expressions. Limits the length of the texts of an expression. */
import { characters, choice, type Expression, NOTHING, type Range, repeat, sequence } from './expression.js';

/** The pattern cannot become an expression. */
export class UnsupportedPattern extends Error {}

const LAST = 0x10ffff;
const DIGIT: Range[] = [[48, 57]];
const WORD: Range[] = [...DIGIT, [65, 90], [95, 95], [97, 122]];
const LINE_ENDS: Range[] = [single(10), single(13), [0x2028, 0x2029]];
const SPACE: Range[] = [
  [9, 13],
  ...[0x20, 0xa0, 0x1680].map(single),
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  ...[0x202f, 0x205f, 0x3000, 0xfeff].map(single),
];
const CLASSES: Readonly<Record<string, readonly Range[]>> = { d: DIGIT, w: WORD, s: SPACE };
const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 };

function single(code: number): Range {
  return [code, code];
}

/** Returns an expression for the texts that match from start to end. Throws SyntaxError or UnsupportedPattern. */
export function pattern(source: string): Expression {
  new RegExp(source, 'u'); // throws SyntaxError
  return new PatternReader(source).read();
}

class PatternReader {
  private at = 0;
  private readonly source: readonly string[];

  constructor(source: string) {
    this.source = [...source];
  }

  read(): Expression {
    const parts = [];
    do {
      this.skip('^');
      parts.push(this.sequence());
      if (this.skip('$') && this.at < this.source.length && this.source[this.at] !== '|') throw anchor();
    } while (this.skip('|'));
    return choice(...parts);
  }

  private skip(wanted: string): boolean {
    const end = this.at + wanted.length;
    if (this.source.slice(this.at, end).join('') !== wanted) return false;
    this.at = end;
    return true;
  }

  private next(): string {
    return this.source[this.at++] as string;
  }

  private choice(): Expression {
    const parts = [this.sequence()];
    while (this.skip('|')) parts.push(this.sequence());
    return choice(...parts);
  }

  private sequence(): Expression {
    const parts = [];
    while (this.at < this.source.length && !'|)$'.includes(this.source[this.at] as string))
      parts.push(this.quantified(this.atom()));
    return sequence(...parts);
  }

  private quantified(part: Expression): Expression {
    const counts = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})/.exec(this.source.slice(this.at, this.at + 30).join(''));
    if (!counts) return part;
    const [all, least, comma, most] = counts;
    this.at += all.length;
    this.skip('?');
    if (least === undefined) return repeat(part, all === '+' ? 1 : 0, all === '?' ? 1 : undefined);
    if (!comma) return repeat(part, Number(least), Number(least));
    return repeat(part, Number(least), most ? Number(most) : undefined);
  }

  private atom(): Expression {
    const next = this.next();
    if (next === '(') return this.group();
    if (next === '[') return characters(...this.set());
    if (next === '.') return characters(...complement(LINE_ENDS));
    if (next === '^') throw anchor();
    return characters(...(next === '\\' ? this.escape() : [single(next.codePointAt(0) as number)]));
  }

  private group(): Expression {
    if (this.skip('?')) {
      const named = this.skip('<') && !['=', '!'].includes(this.source[this.at] as string);
      if (named) while (this.next() !== '>');
      else if (!this.skip(':')) throw new UnsupportedPattern('has a look-around or a modifier, which is not supported');
    }
    const inner = this.choice();
    if (!this.skip(')')) throw anchor();
    return inner;
  }

  private escape(): readonly Range[] {
    const next = this.next();
    const set = CLASSES[next.toLowerCase()];
    if (set) return next === next.toLowerCase() ? set : complement(set);
    const control = CONTROLS[next];
    if (control !== undefined) return [single(control)];
    if (next === 'c') return [single((this.next().codePointAt(0) as number) % 32)];
    if (next === 'x' || next === 'u') return [single(this.code(next === 'x' ? 2 : 4))];
    if (/[\w]/.test(next)) throw new UnsupportedPattern(`has \\${next}, which is not supported`);
    return [single(next.codePointAt(0) as number)];
  }

  private code(digits: number): number {
    let found = '';
    if (this.skip('{')) for (let next = this.next(); next !== '}'; next = this.next()) found += next;
    else while (found.length < digits) found += this.next();
    const code = Number.parseInt(found, 16);
    if (code >= 0xd800 && code < 0xe000) throw new UnsupportedPattern('has a surrogate, which is not supported');
    return code;
  }

  private set(): readonly Range[] {
    const negated = this.skip('^');
    const ranges: Range[] = [];
    while (!this.skip(']')) {
      const first = this.member();
      const isSingle = first.length === 1 && first[0]?.[0] === first[0]?.[1];
      if (isSingle && this.source[this.at] === '-' && this.source[this.at + 1] !== ']') {
        this.at += 1;
        ranges.push([(first[0] as Range)[0], (this.member()[0] as Range)[1]]);
      } else ranges.push(...first);
    }
    return negated ? complement(ranges) : ranges;
  }

  private member(): readonly Range[] {
    const next = this.next();
    if (next !== '\\') return [single(next.codePointAt(0) as number)];
    return this.skip('b') ? [single(8)] : this.escape();
  }
}

const anchor = () =>
  new UnsupportedPattern('has an anchor that is not at its beginning or end, which is not supported');

function complement(ranges: readonly Range[]): Range[] {
  const found: Range[] = [];
  let from = 0;
  for (const [first, last] of [...ranges].sort(([a], [b]) => a - b)) {
    if (first > from) found.push([from, first - 1]);
    from = Math.max(from, last + 1);
  }
  return from > LAST ? found : [...found, [from, LAST]];
}

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

/** A pattern for each format. It matches only valid strings, but not always all of them. */
const FORMATS: Readonly<Record<string, string>> = {
  date: '(19|20)\\d\\d-(0[1-9]|1[0-2])-(0[1-9]|1\\d|2[0-8])',
  time: '([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,3})?Z',
  duration: 'P(\\d{1,4}D|T\\d{1,4}(H|M|S))',
  email: '[a-z0-9]{1,20}([._-][a-z0-9]{1,20}){0,2}@[a-z0-9]{1,20}(-[a-z0-9]{1,20}){0,2}(\\.[a-z]{2,10}){1,2}',
  hostname: '[a-z0-9]{1,20}(-[a-z0-9]{1,20}){0,2}(\\.[a-z]{2,10}){1,2}',
  uri: 'https?://[a-z0-9]{1,20}(-[a-z0-9]{1,20}){0,2}(\\.[a-z]{2,10}){1,2}(/[A-Za-z0-9_.~-]{0,40}){0,5}',
  ipv4: '((25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)\\.){3}(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)',
  ipv6: '([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}',
  uuid: '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}',
};

/** Returns a pattern for strings of the format, or null for an unknown format. */
export function patternOf(format: string): string | null {
  if (format === 'date-time') return `${FORMATS.date}T${FORMATS.time}`;
  return (Object.hasOwn(FORMATS, format) && FORMATS[format]) || null;
}
