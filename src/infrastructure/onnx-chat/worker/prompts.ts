/** Renders conversations with the model's chat template, and tokenizes them. */
import { Template } from '@huggingface/jinja';
import type { ChatRequest, RequestMessage } from '../../../domain/chat/chat.js';
import { firstLineOf } from '../../onnx/onnx-runtime.js';
import { messageJson } from '../../openai/openai-request.js';
import { BrokenModel, isJson, type Json, type ModelFiles } from './model-files.js';
import { NOTHING_TO_READ, rawTokens } from './raw-text.js';
import { SectionTokenizer, usingTokenizer, Vocabulary } from './tokenizers.js';

/** The chat template refuses the messages. The text of the error is usually the template's own text. */
export class RefusedMessages extends Error {}

/** What a chat template reads. */
type Conversation = Pick<ChatRequest, 'messages' | 'templateFields' | 'reasoningEffort'>;

/** The tokens of a conversation. If `whole` is false, the conversation has more tokens. */
export interface Prompt {
  readonly tokens: readonly number[];
  readonly whole: boolean;
}

/** Every model reads this text before it is ready. */
const SAMPLE = 'Hello! How are you today?';

const EMPTY = 'must give the model something to read: its chat template makes no text from these messages';

/** At first, a message has at most this many characters for each token that is enough. */
const CHARACTERS_PER_TOKEN = 8;

/** After about this many tokens, another call has its turn. */
const TOKENS_PER_STEP = 256;

export class Prompts {
  /** Tokens for the trials of the model. */
  readonly sample: readonly number[];
  readonly text: SafeText;
  private readonly template: ChatTemplate;
  /** The token with which the tokenizer begins every text. Empty: it has none. */
  private readonly begin: string;

  /** Throws BrokenModel. */
  constructor(files: ModelFiles) {
    this.begin = files.tokenizerConfig.add_bos_token === true ? String(files.namedTokens.bos_token ?? '') : '';
    this.text = usingTokenizer(() => new SafeText(files.tokenizer, files.tokenizerConfig, specialTokensOf(files)));
    this.sample = usingTokenizer(() => {
      const tokens = [...this.text.tokens(SAMPLE)].flat();
      if (tokens.length === 0) throw new Error('it makes no tokens');
      return tokens;
    });
    this.template = new ChatTemplate(files);
  }

  /** Returns whether `token` is the number of a token of the model. */
  knows(token: string): boolean {
    return String(Number(token)) === token && this.text.knows(Number(token));
  }

  /**
   * Returns the tokens of a conversation. Chat templates read messages in the form of OpenAI's API. Stops soon after
   * `enough` tokens. Yields from time to time, so that other calls have their turn. Throws RefusedMessages, or any error
   * of a faulty template or tokenizer.
   */
  *of(chat: Conversation, enough = Number.POSITIVE_INFINITY): Generator<void, Prompt> {
    const { messages } = chat;
    for (let most = CHARACTERS_PER_TOKEN * enough; ; most *= 2) {
      const isLong = messages.some(({ content }) => content.length > most);
      const cut = isLong ? messages.map((one) => ({ ...one, content: one.content.slice(0, most) })) : messages;
      const prompt = yield* this.tokens({ ...chat, messages: cut }, enough);
      if (!isLong || !prompt.whole) return prompt;
    }
  }

  /** Returns the tokens of a text without the chat template. Otherwise does the same as `of`. */
  *raw(text: string, enough = Number.POSITIVE_INFINITY): Generator<void, Prompt> {
    const { tokens, whole } = yield* rawTokens((rendered) => this.text.tokens(rendered), this.begin + text, enough);
    if (tokens.length === 0) throw new RefusedMessages(NOTHING_TO_READ);
    return { tokens, whole };
  }

  private *tokens(chat: Conversation, enough: number): Generator<void, Prompt> {
    const { messages, templateFields, reasoningEffort } = chat;
    const effort = reasoningEffort !== undefined && { reasoning_effort: reasoningEffort };
    const fields = this.text.escapeAll({ ...effort, ...templateFields }) as object;
    const safe = messages.map((message) => this.safe(message));
    const tokens: number[] = [];
    let next = TOKENS_PER_STEP;
    const rendered = continues(messages) ? this.template.begun(safe, fields) : this.template.render(safe, fields);
    for (const some of this.text.tokens(rendered)) {
      for (const token of some) tokens.push(token);
      if (tokens.length > enough) return { tokens, whole: false };
      if (tokens.length < next) continue;
      next = tokens.length + TOKENS_PER_STEP;
      yield;
    }
    if (tokens.length === 0) throw new RefusedMessages(EMPTY);
    return { tokens, whole: true };
  }

  private safe(message: RequestMessage): SafeMessage {
    return this.text.escapeAll({ ...messageJson(message), content: message.content }) as SafeMessage;
  }
}

/** A message in the form of OpenAI's API, with escaped texts. */
interface SafeMessage {
  readonly content: string;
}

/** Returns whether the last message is the beginning of the answer. */
function continues(messages: readonly RequestMessage[]): boolean {
  const last = messages.at(-1);
  return last?.role === 'assistant' && last.content !== '' && !last.toolCalls?.length;
}

function isAddedToken(value: unknown): value is SpecialToken & { readonly special?: boolean } {
  if (!isJson(value)) return false;
  const { id, content, special, lstrip, rstrip } = value;
  const flags = [special, lstrip, rstrip].every((flag) => flag === undefined || typeof flag === 'boolean');
  return Number.isSafeInteger(id) && typeof content === 'string' && flags;
}

/**
 * Returns the added tokens that are marked as special, that have a name, or that end an answer. Messages may contain
 * the other added tokens, such as `<think>`.
 */
function specialTokensOf(files: ModelFiles): SpecialToken[] {
  const added = files.tokenizer.added_tokens ?? [];
  if (!Array.isArray(added) || !added.every(isAddedToken)) throw new Error('its added_tokens are not valid');
  const { stops } = new Vocabulary(files);
  const named = new Set([...Object.values(files.namedTokens), ...files.additionalTokens]);
  return added.filter(
    ({ special, content, id }) => content !== '' && (special === true || stops.has(id) || named.has(content)),
  );
}

class ChatTemplate {
  private readonly template: Template;

  /** Throws BrokenModel. */
  constructor(private readonly files: ModelFiles) {
    const { text, file } = files.template;
    const broken = (problem: string, error: unknown) =>
      new BrokenModel('chat template', `the one of ${file} does not ${problem}: ${firstLineOf(error)}`);
    try {
      this.template = new Template(text);
      // The built-in `raise_exception` throws the same error as a faulty template. `refuse` throws RefusedMessages.
      this.template.parsed.body.unshift(...new Template('{% set raise_exception = refuse %}').parsed.body);
    } catch (error) {
      throw broken('compile', error);
    }
    try {
      if (this.render([{ role: 'user', content: 'Hello' }]) === '') throw new Error('it makes nothing of a message');
    } catch (error) {
      if (!(error instanceof RefusedMessages)) throw broken('render', error);
    }
  }

  render(messages: readonly unknown[], fields: object = {}, add_generation_prompt = true): string {
    return this.template.render({ ...fields, ...this.files.namedTokens, messages, add_generation_prompt, refuse });
  }

  /** Renders messages up to the end of the last one, which the model continues. Throws RefusedMessages. */
  begun(messages: readonly SafeMessage[], fields: object): string {
    const last = messages.at(-1) as SafeMessage;
    const rendered = this.render([...messages.slice(0, -1), { ...last, content: last.content + END }], fields, false);
    const end = rendered.lastIndexOf(END);
    if (end < 0)
      throw new RefusedMessages('The last message is the assistant’s, which the chat template does not show.');
    return rendered.slice(0, end);
  }
}

function refuse(message: unknown): never {
  throw new RefusedMessages(firstLineOf(String(message)));
}

interface SpecialToken {
  readonly id: number;
  readonly content: string;
  /** The token includes the white space before it. */
  readonly lstrip?: boolean | undefined;
  /** The token includes the white space after it. */
  readonly rstrip?: boolean | undefined;
}

/** Unicode reserves these characters for a program's own use. One of the other two always follows MARK. */
const MARK = '\uFDD0';
const ITSELF = '\uFDD1';
const NOTHING = '\uFDD2';
/** Marks the end of a message that the model continues. */
const END = '\uFDD3';
const MARKS = new RegExp(`${MARK}([${ITSELF}${NOTHING}])`, 'g');

/**
 * Lets only the chat template write special tokens. Otherwise a message with the text `<|im_end|>` could end itself and
 * begin a message of another role.
 *
 * Inside a message, a mark breaks the text of a special token. So a search for special tokens finds only those of the
 * template. The tokenizer gets only the text between the special tokens, without the marks. It knows no special tokens,
 * so this text cannot become one, not even after a normalizer has changed it.
 */
class SafeText {
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

  /** Yields the tokens of a rendered template, section by section. Throws if some of the text has no token. */
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
      const plain = section.replace(MARKS, (_, kind) => (kind === ITSELF ? MARK : ''));
      const cut = special[i + 1]?.lstrip ? plain.trimEnd() : plain;
      yield this.plainTokens(special[i - 1]?.rstrip ? cut.trimStart() : cut, i);
    }
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
