/** Reads regular expressions: makes expressions of their parts. */
import { regExpOf } from '../../../json-schema/pattern.js';
import { characters, choice, type Expression, type Range, repeat, sequence } from './expression.js';

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

/** A look-around at the beginning or the end of an alternative. */
interface Look {
  readonly isNegative: boolean;
  readonly alternatives: readonly Alternative[];
}

/** One side of the outermost `|` of a pattern. */
interface Alternative {
  readonly isAtStart: boolean;
  readonly isAtEnd: boolean;
  readonly ahead: readonly Look[];
  readonly behind: readonly Look[];
  readonly body: Expression;
}

export interface Pattern {
  readonly alternatives: readonly Alternative[];
  /** Any character that the pattern can match. Without the flag `u`, a pattern reads halves of the others. */
  readonly anything: Expression;
}

/** Reads a regular expression. Throws SyntaxError or UnsupportedPattern. */
export function patternFrom(source: string): Pattern {
  return new PatternReader(source, regExpOf(source).unicode).read();
}

/** Returns an expression for the texts that match from start to end, or null for a pattern with look-around. */
export function wholeOf({ alternatives }: Pattern): Expression | null {
  if (alternatives.some(({ ahead, behind }) => ahead.length + behind.length > 0)) return null;
  return choice(...alternatives.map(({ body }) => body));
}

/** Returns an expression for the texts of a pattern without look-around. Throws as `patternFrom`. */
export function pattern(source: string): Expression {
  const whole = wholeOf(patternFrom(source));
  if (!whole) throw new UnsupportedPattern('has a look-around, which is not supported here');
  return whole;
}

class PatternReader {
  private at = 0;
  private readonly source: readonly string[];
  private readonly last: number;

  constructor(
    source: string,
    private readonly unicode: boolean,
  ) {
    this.source = [...source];
    this.last = unicode ? LAST : 0xffff;
    if (!unicode && this.source.some((character) => character.length > 1))
      throw new UnsupportedPattern('has a character beyond U+FFFF, and is not valid with the flag u');
  }

  read(): Pattern {
    const alternatives = this.alternatives(true);
    if (this.at < this.source.length) throw anchor();
    return { alternatives, anything: repeat(characters([0, this.last]), 0) };
  }

  private alternatives(isOutermost: boolean): Alternative[] {
    const found: Alternative[] = [];
    do {
      const isAtStart = this.skip('^');
      const ahead = isOutermost ? this.looks('(?=', '(?!') : [];
      const body = this.sequence(isOutermost);
      const behind = isOutermost ? this.looks('(?<=', '(?<!') : [];
      const isAtEnd = this.skip('$');
      if (this.at < this.source.length && !'|)'.includes(this.source[this.at] as string))
        throw behind.length > 0 ? this.misplaced('look-behind') : anchor();
      found.push({ isAtStart, isAtEnd, ahead, behind, body });
    } while (this.skip('|'));
    return found;
  }

  private looks(positive: string, negative: string): Look[] {
    const found: Look[] = [];
    for (;;) {
      const isNegative = this.skip(negative);
      if (!isNegative && !this.skip(positive)) return found;
      found.push({ isNegative, alternatives: this.alternatives(false) });
      if (!this.skip(')')) throw anchor();
      if ('*+?{'.includes(this.source[this.at] ?? ' ')) throw new UnsupportedPattern('repeats a look-around');
    }
  }

  private misplaced(kind: string): UnsupportedPattern {
    const where = `at character ${this.at}, which is supported only at its beginning (look-ahead) or end (look-behind)`;
    return new UnsupportedPattern(`has a ${kind} ${where}`);
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

  private sequence(endsAtLook = false): Expression {
    const parts = [];
    while (this.at < this.source.length && !'|)$'.includes(this.source[this.at] as string)) {
      if (endsAtLook && /^\(\?<[=!]/.test(this.source.slice(this.at, this.at + 4).join(''))) break;
      parts.push(this.quantified(this.atom()));
    }
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
    if (next === '.') return characters(...this.complement(LINE_ENDS));
    if (next === '^') throw anchor();
    return characters(...(next === '\\' ? this.escape() : [single(next.codePointAt(0) as number)]));
  }

  private group(): Expression {
    if (this.skip('?')) {
      if (this.skip('=') || this.skip('!')) throw this.misplaced('look-ahead');
      if (this.skip('<=') || this.skip('<!')) throw this.misplaced('look-behind');
      if (this.skip('<')) while (this.next() !== '>');
      else if (!this.skip(':')) throw new UnsupportedPattern('has a modifier, which is not supported');
    }
    const inner = this.choice();
    if (!this.skip(')')) throw anchor();
    return inner;
  }

  private escape(): readonly Range[] {
    const next = this.next();
    const set = CLASSES[next.toLowerCase()];
    if (set) return next === next.toLowerCase() ? set : this.complement(set);
    const control = CONTROLS[next];
    if (control !== undefined) return [single(control)];
    if (next === 'c') return [single((this.next().codePointAt(0) as number) % 32)];
    // Without the flag u, the brackets of \u{…} are a repetition.
    if (next === 'u' && !this.unicode && this.source[this.at] === '{') return [single(117)];
    if (next === 'x' || next === 'u') return [single(this.code(next === 'x' ? 2 : 4))];
    if (/[\w]/.test(next)) throw new UnsupportedPattern(`has \\${next}, which is not supported`);
    return [single(next.codePointAt(0) as number)];
  }

  private code(digits: number): number {
    let found = '';
    if (this.skip('{')) for (let next = this.next(); next !== '}'; next = this.next()) found += next;
    else while (found.length < digits && this.at < this.source.length) found += this.next();
    if (!/^[0-9a-f]+$/i.test(found)) throw new UnsupportedPattern('has an incomplete \\x or \\u');
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
        const to = this.member();
        if (to.length === 1 && to[0]?.[0] === to[0]?.[1]) ranges.push([(first[0] as Range)[0], (to[0] as Range)[1]]);
        else ranges.push(...first, single(45), ...to);
      } else ranges.push(...first);
    }
    return negated ? this.complement(ranges) : ranges;
  }

  private complement(ranges: readonly Range[]): Range[] {
    return complement(ranges, this.last);
  }

  private member(): readonly Range[] {
    const next = this.next();
    if (next !== '\\') return [single(next.codePointAt(0) as number)];
    return this.skip('b') ? [single(8)] : this.escape();
  }
}

const anchor = () =>
  new UnsupportedPattern('has an anchor that is not at its beginning or end, which is not supported');

function complement(ranges: readonly Range[], end: number): Range[] {
  const found: Range[] = [];
  let from = 0;
  for (const [first, last] of [...ranges].sort(([a], [b]) => a - b)) {
    if (first > from) found.push([from, first - 1]);
    from = Math.max(from, last + 1);
  }
  return from > end ? found : [...found, [from, end]];
}
