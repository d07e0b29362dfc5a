/** Defines expressions and grammars. Prints a grammar in the notation of XGrammar (EBNF). */

/** The first and the last code point. */
export type Range = readonly [first: number, last: number];

export type Expression =
  | { readonly kind: 'text'; readonly text: string }
  /** Bytes of UTF-8, perhaps only a part of a character. */
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** One character of these ranges. */
  | { readonly kind: 'characters'; readonly ranges: readonly Range[] }
  | { readonly kind: 'sequence'; readonly parts: readonly Expression[] }
  | { readonly kind: 'choice'; readonly parts: readonly Expression[] }
  | { readonly kind: 'repeat'; readonly part: Expression; readonly min: number; readonly max: number }
  | { readonly kind: 'rule'; readonly name: string };

export const text = (some: string): Expression => ({ kind: 'text', text: some });
export const bytes = (some: Uint8Array): Expression => ({ kind: 'bytes', bytes: some });
export const characters = (...ranges: Range[]): Expression => ({ kind: 'characters', ranges });
export const sequence = (...parts: Expression[]): Expression => ({ kind: 'sequence', parts });
export const choice = (...parts: Expression[]): Expression =>
  parts.length === 1 ? (parts[0] as Expression) : { kind: 'choice', parts };
export const repeat = (part: Expression, min: number, max = Number.POSITIVE_INFINITY): Expression => ({
  kind: 'repeat',
  part,
  min,
  max,
});
export const optional = (part: Expression): Expression => repeat(part, 0, 1);

/** Matches no text, not even an empty one. */
export const NOTHING = choice(...[]);

/**
 * XGrammar computes a mask for each place of a repetition, which is slow for a long repetition. So a long repetition is
 * printed as a repetition of blocks, and a large block as a repetition of smaller blocks.
 */
const BLOCK = 8;

export class Grammar {
  readonly rules = new Map<string, Expression>();
  private count = 0;
  private readonly lines = new Map<string, string>();
  private readonly names = new Map<string, string>();
  private possible = new Set<string>();

  /** Returns the name for a new rule. */
  nextName(): string {
    return `r${this.count++}`;
  }

  add(expression: Expression): Expression & { kind: 'rule' } {
    const name = this.nextName();
    this.rules.set(name, expression);
    return { kind: 'rule', name };
  }

  /** Returns whether the rule matches some text. */
  matches(rule: string): boolean {
    this.findPossible();
    return this.possible.has(rule);
  }

  /** Prints the grammar that begins with the rule `root`. */
  print(root: string): string {
    return this.printFrom(root);
  }

  /** Prints a grammar of texts without `trigger`, which may end with `trigger` and then a text of the rule `rest`. */
  printAfterText(trigger: string, rest: string): string {
    const tag = `("${[...trigger].map(escaped).join('')}", ${rest})`;
    return this.printFrom(`TagDispatch(${tag}, stop_eos=true, loop_after_dispatch=false)`);
  }

  private printFrom(root: string): string {
    this.findPossible();
    for (const [name, rule] of this.rules) if (this.possible.has(name)) this.lines.set(name, this.printed(rule));
    return [`root ::= ${root}`, ...[...this.lines].map(([name, line]) => `${name} ::= ${line}`)].join('\n');
  }

  /** Returns a rule that refers to itself with no text in between, or null. XGrammar never ends on such a rule. */
  endlessOf(names: Iterable<string>): string | null {
    const units = (expression: Expression): string[] => {
      if (expression.kind === 'rule') return [expression.name];
      return expression.kind === 'choice' ? expression.parts.flatMap(units) : [];
    };
    for (const name of names) {
      const reached = new Set<string>();
      const open = [name];
      for (let next = open.pop(); next !== undefined; next = open.pop())
        for (const one of units(this.rules.get(next) as Expression)) {
          if (one === name) return name;
          if (!reached.has(one)) open.push(one);
          reached.add(one);
        }
    }
    return null;
  }

  /** Finds the rules that match some text. An answer that begins with another rule could never end. */
  private findPossible(): void {
    for (let size = -1; size < this.possible.size; ) {
      size = this.possible.size;
      for (const [name, rule] of this.rules) if (this.isPossible(rule)) this.possible.add(name);
    }
  }

  private isPossible(expression: Expression): boolean {
    switch (expression.kind) {
      case 'text':
      case 'bytes':
        return true;
      case 'characters':
        return expression.ranges.length > 0;
      case 'sequence':
        return expression.parts.every((part) => this.isPossible(part));
      case 'choice':
        return expression.parts.some((part) => this.isPossible(part));
      case 'repeat':
        return expression.min <= expression.max && (expression.min === 0 || this.isPossible(expression.part));
      case 'rule':
        return this.possible.has(expression.name);
    }
  }

  private printed(expression: Expression): string {
    switch (expression.kind) {
      case 'text':
        return `"${[...expression.text].map(escaped).join('')}"`;
      case 'bytes':
        return printedBytes(expression.bytes);
      case 'characters':
        return printedCharacters(expression.ranges);
      case 'sequence':
        return expression.parts.length === 0 ? '""' : expression.parts.map((part) => this.printed(part)).join(' ');
      case 'choice': {
        const parts = expression.parts.filter((part) => this.isPossible(part));
        return `(${[...new Set(parts.map((part) => this.printed(part)))].join(' | ')})`;
      }
      case 'repeat': {
        const { part, min, max } = expression;
        return max === 0 || !this.isPossible(part)
          ? '""'
          : this.repeated(part.kind === 'rule' ? part.name : this.named(this.printed(part)), min, max);
      }
      case 'rule':
        return expression.name;
    }
  }

  private repeated(part: string, min: number, max: number): string {
    if (min === 0 && max === 1) return `${part}?`;
    if (max === Number.POSITIVE_INFINITY) return min === 0 ? `${part}*` : `${this.exactly(part, min)} ${part}*`;
    if (max <= BLOCK) return `${part}{${min},${max}}`;
    return `${this.exactly(part, min)} ${this.atMost(part, max - min)}`;
  }

  private exactly(part: string, count: number): string {
    if (count === 0) return '""';
    if (count <= BLOCK) return `${part}{${count}}`;
    const size = blockWithin(count);
    const rest = count % size;
    const blocks = `${this.block(part, size)}{${Math.floor(count / size)}}`;
    return rest === 0 ? blocks : `${blocks} ${this.exactly(part, rest)}`;
  }

  private atMost(part: string, count: number): string {
    if (count === 0) return '""';
    if (count <= BLOCK) return `${part}{0,${count}}`;
    const size = blockWithin(count);
    return this.named(`${this.block(part, size)} ${this.atMost(part, count - size)} | ${this.atMost(part, size - 1)}`);
  }

  private block(part: string, size: number): string {
    return this.named(`${size === BLOCK ? part : this.block(part, size / BLOCK)}{${BLOCK}}`);
  }

  /** Returns the name of the rule with this right side. Adds the rule if it is new. */
  private named(line: string): string {
    const known = this.names.get(line) ?? `x${this.names.size}`;
    this.names.set(line, known);
    this.lines.set(known, line);
    return known;
  }
}

/** Returns the size of the largest block of at most `count` repetitions. */
function blockWithin(count: number): number {
  let size = BLOCK;
  while (size * BLOCK <= count) size *= BLOCK;
  return size;
}

const escaped = (character: string): string =>
  /[\x20-\x7e]/.test(character) && !/["\\]/.test(character)
    ? character
    : `\\U${hex(character.codePointAt(0) as number).padStart(8, '0')}`;

const hex = (code: number): string => code.toString(16).padStart(2, '0');

/** Prints the bytes of ASCII as text, and each other byte as a class. */
const printedBytes = (some: Uint8Array): string =>
  [
    ...Buffer.from(some)
      .toString('latin1')
      .matchAll(/[^\x80-\xff]+|[\x80-\xff]/g),
  ]
    .map(([part]) => {
      const byte = part.charCodeAt(0);
      return byte < 0x80 ? `"${[...part].map(escaped).join('')}"` : `[${classRange(byte, byte)}]`;
    })
    .join(' ');

const classRange = (from: number, to: number): string => `\\x${hex(from)}${from === to ? '' : '-'}\\x${hex(to)}`;

/** The last code points with one, two, three and four bytes in UTF-8. */
const LAST_OF_LENGTH = [0x7f, 0x7ff, 0xffff, 0x10ffff];

/**
 * Prints ranges as classes of UTF-8 bytes, because XGrammar reads the two ends of a class as bytes. But it reads the
 * only member of a class as a character, so `byteRanges` prints a single byte twice.
 */
function printedCharacters(ranges: readonly Range[]): string {
  const parts = ranges.flatMap(([first, last]) =>
    LAST_OF_LENGTH.flatMap((end, i) => {
      const [from, to] = [Math.max(first, (LAST_OF_LENGTH[i - 1] ?? -1) + 1), Math.min(last, end)];
      const bytesOf = (code: number) => [...Buffer.from(String.fromCodePoint(code))];
      return from <= to ? byteRanges(bytesOf(from), bytesOf(to)) : [];
    }),
  );
  const single = parts.filter((part) => part.length === 1).flat();
  const several = parts.filter((part) => part.length > 1).map((part) => part.map((range) => `[${range}]`).join(' '));
  return `(${[...(single.length > 0 ? [`[${single.join('')}]`] : []), ...several].join(' | ')})`;
}

/** Returns the byte sequences from one character to another of the same length, with a range for each byte. */
function byteRanges([first = 0, ...rest]: number[], [last = 0, ...lastRest]: number[]): string[][] {
  if (rest.length === 0) return [[classRange(first, last)]];
  const under = (byte: number, from: number[], to: number[]) =>
    byteRanges(from, to).map((ranges) => [classRange(byte, byte), ...ranges]);
  if (first === last) return under(first, rest, lastRest);
  const [lowest, highest] = [rest.map(() => 0x80), rest.map(() => 0xbf)];
  const isWholeFirst = rest.every((byte) => byte === 0x80);
  const isWholeLast = lastRest.every((byte) => byte === 0xbf);
  const [from, to] = [isWholeFirst ? first : first + 1, isWholeLast ? last : last - 1];
  return [
    ...(isWholeFirst ? [] : under(first, rest, highest)),
    ...(from <= to ? [[classRange(from, to), ...rest.map(() => classRange(0x80, 0xbf))]] : []),
    ...(isWholeLast ? [] : under(last, lowest, lastRest)),
  ];
}
