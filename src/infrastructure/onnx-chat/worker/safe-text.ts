/** Keeps the texts of callers from becoming special tokens. */
import { isJson, type Json, type ModelFiles } from './model-files.js';
import { SectionTokenizer, Vocabulary } from './tokenizers.js';

export interface SpecialToken {
  readonly id: number;
  readonly content: string;
  /** The token includes the white space before it. */
  readonly lstrip?: boolean | undefined;
  /** The token includes the white space after it. */
  readonly rstrip?: boolean | undefined;
}

function isAddedToken(value: unknown): value is SpecialToken & { readonly special?: boolean } {
  if (!isJson(value)) return false;
  const { id, content, special, lstrip, rstrip } = value;
  const flags = [special, lstrip, rstrip].every((flag) => flag === undefined || typeof flag === 'boolean');
  return Number.isSafeInteger(id) && typeof content === 'string' && flags;
}

/** Matches added tokens around tools, such as `<tool_call>`. Some tokenizers do not mark them as special. */
const OF_TOOLS = /tool/i;

/**
 * Returns the added tokens that are marked as special, that have a name, that end an answer, or that stand around
 * tools. Messages may contain the other added tokens, such as `<think>`.
 */
export function specialTokensOf(files: ModelFiles): SpecialToken[] {
  const added = files.tokenizer.added_tokens ?? [];
  if (!Array.isArray(added) || !added.every(isAddedToken)) throw new Error('its added_tokens are not valid');
  const { stops } = new Vocabulary(files);
  const named = new Set([...Object.values(files.namedTokens), ...files.additionalTokens]);
  const isSpecial = ({ special, content, id }: ReturnType<typeof added.slice>[number]) =>
    special === true || stops.has(id) || named.has(content) || OF_TOOLS.test(content);
  return added.filter((token) => token.content !== '' && isSpecial(token));
}

/** Unicode reserves these characters for a program's own use. One of the other two always follows MARK. */
const MARK = '\uFDD0';
const ITSELF = '\uFDD1';
const NOTHING = '\uFDD2';
/** Marks the end of a message that the model continues. */
export const END = '\uFDD3';
const MARKS = new RegExp(`${MARK}([${ITSELF}${NOTHING}])`, 'g');

/** Cuts no character into two surrogates. */
const beginningOf = (text: string, length: number): string => text.slice(0, length).replace(/[\ud800-\udbff]$/, '');

/**
 * Lets only the chat template write special tokens. Otherwise a message with the text `<|im_end|>` could end itself and
 * begin a message of another role.
 *
 * Inside a message, a mark breaks the text of a special token. So a search for special tokens finds only those of the
 * template. The tokenizer gets only the text between the special tokens, without the marks. It knows no special tokens,
 * so this text cannot become one, not even after a normalizer has changed it.
 */
export class SafeText {
  private readonly tokenizer: SectionTokenizer;
  private readonly ids: ReadonlySet<number>;
  /** The incomplete beginnings of special tokens. */
  private readonly beginnings = new Set<string>();
  /** The incomplete endings of special tokens. */
  private readonly endings = new Set<string>();
  private longest = 0;

  constructor(
    tokenizer: Json,
    config: Json,
    private readonly specials: readonly SpecialToken[],
  ) {
    const added = (tokenizer.added_tokens ?? []) as readonly SpecialToken[];
    this.ids = new Set(specials.map(({ id }) => id));
    const others = added.filter(({ id }) => !this.ids.has(id));
    this.tokenizer = new SectionTokenizer({ ...tokenizer, added_tokens: others }, config);
    for (const { content } of specials) {
      this.longest = Math.max(this.longest, content.length);
      for (let length = 1; length < content.length; length++) {
        this.beginnings.add(content.slice(0, length));
        this.endings.add(content.slice(-length));
      }
    }
  }

  knows(token: number): boolean {
    return this.ids.has(token) || this.tokenizer.has(token);
  }

  /** Escapes a text. The result forms no special token, not even together with the template's text around it. */
  escape(text: string): string {
    return this.separated(this.hidden(text));
  }

  /** Escapes all texts of a value. Templates read the field names, so a name changes only if it has a special token. */
  escapeAll(value: unknown): unknown {
    if (typeof value === 'string') return this.escape(value);
    if (Array.isArray(value)) return value.map((item) => this.escapeAll(item));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [this.hidden(name), this.escapeAll(item)]));
  }

  /** Puts a mark into each special token of the text. */
  private hidden(text: string): string {
    const escaped = text.replaceAll(MARK, MARK + ITSELF);
    const found = this.pattern(escaped);
    return found ? escaped.replace(new RegExp(`(?=${found}).`, 'gsu'), `$&${MARK}${NOTHING}`) : escaped;
  }

  /**
   * Yields the tokens of a rendered template, section by section. Throws if some of the text has no token. A section of
   * more than `longest` characters is cut: the tokens of its beginning are the last ones. Returns whether it cut none.
   */
  *tokens(rendered: string, longest = Number.POSITIVE_INFINITY): Generator<number[], boolean> {
    const found = this.pattern(rendered);
    const sections = (found ? rendered.split(new RegExp(`(${found})`, 'u')) : [rendered]).filter((one) => one !== '');
    const special = sections.map((section) => this.specials.find(({ content }) => content === section));
    for (const [i, section] of sections.entries()) {
      const own = special[i];
      if (own) {
        yield [own.id];
        continue;
      }
      const plain = section.replace(MARKS, (_, kind) => (kind === ITSELF ? MARK : ''));
      const cut = special[i + 1]?.lstrip ? plain.trimEnd() : plain;
      const text = special[i - 1]?.rstrip ? cut.trimStart() : cut;
      yield this.plainTokens(text.length > longest ? beginningOf(text, longest) : text, i);
      if (text.length > longest) return false;
    }
    return true;
  }

  /** Tokenizes plain text. Leaves out special tokens of the vocabulary, except the token for unknown words. */
  private plainTokens(text: string, section: number): number[] {
    const ids = this.tokenizer.encode(text, section);
    const own = ids.filter((id) => id === undefined || !this.ids.has(id) || id === this.tokenizer.unknown);
    if (!own.every(Number.isSafeInteger)) throw new Error('it has no token for some of the text');
    return own as number[];
  }

  /** Returns a regular expression for the special tokens in the text, longest first, or null if it has none. */
  private pattern(text: string): string | null {
    const found = this.specials.map(({ content }) => content).filter((content) => text.includes(content));
    if (found.length === 0) return null;
    const longestFirst = found.sort((a, b) => b.length - a.length);
    return longestFirst.map((content) => content.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|');
  }

  /**
   * Puts a mark at each end of the text that could form a special token together with the template's text. White space
   * stays outside the marks, because templates may trim it.
   */
  private separated(text: string): string {
    const inner = text.trim();
    const lengths = Array.from({ length: Math.min(this.longest, inner.length) }, (_, i) => i + 1);
    const before = lengths.some((length) => this.endings.has(inner.slice(0, length))) ? MARK + NOTHING : '';
    const after = lengths.some((length) => this.beginnings.has(inner.slice(-length))) ? MARK + NOTHING : '';
    if (!before && !after) return text;
    const start = text.length - text.trimStart().length;
    return text.slice(0, start) + before + inner + after + text.slice(start + inner.length);
  }
}
