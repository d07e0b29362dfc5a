import type { Json } from './model-files.js';
import { PiecewiseTokenizer } from './piecewise-tokenizer.js';

/** A special token: its text and its number. */
export interface Special {
  readonly content: string;
  readonly id: number;
  /** Whether it takes the white space before it, and behind it. */
  readonly lstrip?: boolean;
  readonly rstrip?: boolean;
}

/** Unicode leaves these to programs for their own use. The first is always followed by one of the others. */
const MARK = '\uFDD0';
const ITSELF = '\uFDD1';
const NOTHING = '\uFDD2';

/**
 * Keeps the special tokens of a model to its template. Whoever writes `<|im_end|>` in a message would otherwise end the
 * message, and could begin one in another's name.
 *
 * A mark hides such a text in a message from the search for special tokens, which are those that the template has written.
 * What stands between them goes, without the marks, to a tokenizer that knows none: whatever its normalizer makes of the
 * text, there is no special token that it could become.
 */
export class PlainText {
  private readonly tokenizer: PiecewiseTokenizer;
  private readonly ids: ReadonlySet<number>;
  /** What a special token may begin and end with, but not the whole. */
  private readonly beginnings = new Set<string>();
  private readonly endings = new Set<string>();
  private longest = 0;

  constructor(
    tokenizer: Json,
    config: Json,
    private readonly specials: readonly Special[],
  ) {
    const added = (tokenizer.added_tokens ?? []) as readonly Special[];
    this.ids = new Set(specials.map(({ id }) => id));
    const others = added.filter(({ id }) => !this.ids.has(id));
    this.tokenizer = new PiecewiseTokenizer({ ...tokenizer, added_tokens: others }, config);
    for (const { content } of specials) {
      this.longest = Math.max(this.longest, content.length);
      for (let length = 1; length < content.length; length++) {
        this.beginnings.add(content.slice(0, length));
        this.endings.add(content.slice(-length));
      }
    }
  }

  /** The text as the template gets it: no part of it is a special token, nor together with what the template adds. */
  of(text: string): string {
    const escaped = text.replaceAll(MARK, MARK + ITSELF);
    const found = this.pattern(escaped);
    const hidden = found ? escaped.replace(new RegExp(`(?=${found}).`, 'gsu'), `$&${MARK}${NOTHING}`) : escaped;
    return this.apart(hidden);
  }

  /** The tokens of a rendered template, piece by piece. Throws where there are none for some of it. */
  *tokens(rendered: string): Generator<number[]> {
    const found = this.pattern(rendered);
    const sections = (found ? rendered.split(new RegExp(`(${found})`, 'u')) : [rendered]).filter((one) => one !== '');
    const special = sections.map((section) => this.specials.find(({ content }) => content === section));
    for (const [i, section] of sections.entries()) {
      const own = special[i];
      if (own) {
        yield [own.id];
        continue;
      }
      const plain = unmarked(section);
      const cut = special[i + 1]?.lstrip ? plain.trimEnd() : plain;
      yield* this.words(special[i - 1]?.rstrip ? cut.trimStart() : cut, i);
    }
  }

  /** Special tokens that are words of the vocabulary as well are left out; but for the one that stands for the unknown. */
  private *words(text: string, section: number): Generator<number[]> {
    for (const ids of this.tokenizer.encode(text, section)) {
      const own = ids.filter((id) => id === undefined || !this.ids.has(id) || id === this.tokenizer.unknown);
      if (!own.every(Number.isSafeInteger)) throw new Error('it has no token for some of the text');
      yield own as number[];
    }
  }

  /** A pattern of those special tokens that are in the text, the longer ones first; null where there are none. */
  private pattern(text: string): string | null {
    const found = this.specials.map(({ content }) => content).filter((content) => text.includes(content));
    if (found.length === 0) return null;
    const longestFirst = found.sort((a, b) => b.length - a.length);
    return longestFirst.map((content) => content.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|');
  }

  /** Marks where the text could complete what stands around it, within its white space, which templates may take away. */
  private apart(text: string): string {
    const inner = text.trim();
    const lengths = Array.from({ length: Math.min(this.longest, inner.length) }, (_, i) => i + 1);
    const before = lengths.some((length) => this.endings.has(inner.slice(0, length))) ? MARK + NOTHING : '';
    const after = lengths.some((length) => this.beginnings.has(inner.slice(-length))) ? MARK + NOTHING : '';
    if (!before && !after) return text;
    const start = text.length - text.trimStart().length;
    return text.slice(0, start) + before + inner + after + text.slice(start + inner.length);
  }
}

const MARKS = new RegExp(`${MARK}([${ITSELF}${NOTHING}])`, 'g');

const unmarked = (text: string): string => text.replace(MARKS, (_, kind) => (kind === ITSELF ? MARK : ''));
