/** A JSON text that is being edited, with the place of each value. */
export interface JsonSource {
  /** The reason why the service would not accept the text, or null if `value` can be sent. */
  readonly problem: { readonly message: string; readonly offset: number } | null;
  /** The parsed text, if it has no problem. */
  readonly value: unknown;
  /** The offset of each value by its path. The parts of a path are joined by dots. The whole text has the path ''. */
  readonly places: ReadonlyMap<string, number>;
}

const DEEPEST = 200;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings.
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"/y;
const BLANK = /[ \t\r\n]*/y;

/** Reads a JSON text. Reports repeated names, and numbers that JavaScript would change, as problems. */
export function readJson(text: string): JsonSource {
  const places = new Map<string, number>();
  try {
    new Reader(text, places).whole();
    return { problem: null, value: JSON.parse(text), places };
  } catch (reason) {
    if (!(reason instanceof Problem)) throw reason;
    return { problem: { message: reason.message, offset: reason.offset }, value: undefined, places };
  }
}

class Problem extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

class Reader {
  private at = 0;

  constructor(
    private readonly text: string,
    private readonly places: Map<string, number>,
  ) {}

  whole(): void {
    this.value('', 0);
    if (this.at < this.text.length) this.fail(`Nothing may follow the end of the JSON, but there is ${this.found()}.`);
  }

  private value(path: string, depth: number): void {
    this.take(BLANK);
    if (depth > DEEPEST) this.fail(`Values may be nested ${DEEPEST} deep at most.`);
    this.places.set(path, this.at);
    const start = this.text[this.at] ?? '';
    if (start === '{') this.list('}', (_, names) => this.member(path, depth, names));
    else if (start === '[') this.list(']', (index) => this.value(joined(path, String(index)), depth + 1));
    else if (start === '"') this.string();
    else if (/[-\d]/.test(start)) this.number();
    else if (!this.take(/true|false|null/y)) this.fail(`Expected a value, but found ${this.found()}.`);
    this.take(BLANK);
  }

  private list(end: string, item: (index: number, names: Set<string>) => void): void {
    this.at += 1;
    this.take(BLANK);
    const names = new Set<string>();
    for (let index = 0; this.text[this.at] !== end; index += 1) {
      if (index > 0) {
        if (this.text[this.at] !== ',') this.fail(`Expected a comma or ${end}, but found ${this.found()}.`);
        this.at += 1;
        this.take(BLANK);
        if (this.text[this.at] === end) this.fail(`There must be no comma before ${end}.`);
      }
      item(index, names);
    }
    this.at += 1;
  }

  private member(path: string, depth: number, names: Set<string>): void {
    const start = this.at;
    if (this.text[start] !== '"') this.fail(`Expected a name in double quotes, but found ${this.found()}.`);
    const name = JSON.parse(this.string()) as string;
    if (names.has(name)) throw new Problem(`The name ${JSON.stringify(name)} stands here twice.`, start);
    names.add(name);
    this.take(BLANK);
    if (this.text[this.at] !== ':') this.fail(`Expected a colon after the name, but found ${this.found()}.`);
    this.at += 1;
    this.value(joined(path, name), depth + 1);
  }

  private string(): string {
    const read = this.take(STRING);
    if (read) return read;
    const [line = ''] = this.text.slice(this.at).split('\n', 1);
    return this.fail(
      /^"(?:[^"\\]|\\.)*"/.test(line)
        ? 'This text has an invalid escape or a control character.'
        : 'This text is not closed by a double quote on its line.',
    );
  }

  private number(): void {
    const start = this.at;
    const read = this.take(NUMBER);
    if (!read || /[\w.+-]/.test(this.text[this.at] ?? '')) throw new Problem('This is not a number of JSON.', start);
    if (!isExact(read)) throw new Problem('This number cannot be kept exactly. Write it as a text.', start);
  }

  private take(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const [read = null] = pattern.exec(this.text) ?? [];
    if (read !== null) this.at += read.length;
    return read;
  }

  private found(): string {
    const character = [...this.text.slice(this.at, this.at + 2)][0];
    return character === undefined ? 'the end' : character === '\n' ? 'the end of the line' : character;
  }

  private fail(message: string): never {
    throw new Problem(message, this.at);
  }
}

const joined = (path: string, part: string) => (path === '' ? part : `${path}.${part}`);

/** Returns whether a number keeps its value when JavaScript reads and writes it. */
function isExact(written: string): boolean {
  const digits = (number: string) => {
    const [mantissa = '', exponent = '0'] = number.replace('-', '').toLowerCase().split('e');
    const [whole = '', fraction = ''] = mantissa.split('.');
    const all = (whole + fraction).replace(/^0+/, '');
    const significant = all.replace(/0+$/, '');
    return `${significant}e${significant && Number(exponent) - fraction.length + all.length - significant.length}`;
  };
  return Number.isFinite(Number(written)) && digits(written) === digits(String(Number(written)));
}

/** Returns the offset of the value at `path`, or of the nearest value around it. `path` may begin with `spec`. */
export function placeOf({ places }: JsonSource, path: string): number {
  let name = path.replace(/^spec(\.|$)/, '');
  while (!places.has(name) && name) name = name.split('.').slice(0, -1).join('.');
  return places.get(name) ?? 0;
}

/** Returns the line and the column of an offset, both counted from 1. */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

/** Returns a value as indented JSON. */
export const writeJson = (value: unknown): string => JSON.stringify(value, null, 2);
