import type { ChatMessage } from '../../../domain/chat/chat.js';
import { ChatTemplate, contentOf, RefusedMessages } from './chat-template.js';
import type { ModelFiles } from './model-files.js';
import { PlainText, type Special } from './plain-text.js';
import { usable, Vocabulary } from './vocabulary.js';

/** Tried out on each model before anybody asks it. */
const SAMPLE = 'Hello! How are you today?';

const NOTHING = 'must give the model something to read: its chat template makes nothing of these';

/** Tokens that are made in one step. */
const STEP = 256;

/** The tokens of messages; where there are more than was asked for, the first of them. */
export interface Prompt {
  readonly tokens: readonly number[];
  readonly whole: boolean;
}

/** Conversations as the model wants them: written by its template, and in tokens. */
export class Prompts {
  /** Some tokens that the model has met before. */
  readonly sample: readonly number[];
  readonly text: PlainText;
  private readonly template: ChatTemplate;

  /** Throws BrokenModel. */
  constructor(files: ModelFiles) {
    const { tokenizer, tokenizerConfig } = files;
    const { stops } = new Vocabulary(files);
    this.text = usable(() => new PlainText(tokenizer, tokenizerConfig, specialsOf(files, stops)));
    this.sample = usable(() => {
      const tokens = [...this.text.tokens(SAMPLE)].flat();
      if (tokens.length === 0) throw new Error('it makes no tokens');
      return tokens;
    });
    this.template = new ChatTemplate(files);
  }

  /** Step by step. Throws RefusedMessages, or whatever a faulty template or tokenizer leads to. */
  *of(messages: readonly ChatMessage[], enough = Number.POSITIVE_INFINITY): Generator<void, Prompt> {
    const plain = messages.map((one) => ({ ...one, content: this.text.of(one.content) }));
    const tokens: number[] = [];
    let next = STEP;
    for (const some of this.text.tokens(this.template.render(plain))) {
      for (const token of some) tokens.push(token);
      if (tokens.length > enough) return { tokens, whole: false };
      if (tokens.length < next) continue;
      next = tokens.length + STEP;
      yield;
    }
    if (tokens.length === 0) throw new RefusedMessages(NOTHING);
    return { tokens, whole: true };
  }
}

/**
 * Those that are said to be special, that have a name of their own, or that end an answer. Other added tokens, such as those
 * around a model's thoughts, may be written by anybody.
 */
function specialsOf({ tokenizer: { added_tokens: added }, tokenizerConfig }: ModelFiles, stops: ReadonlySet<number>) {
  const tokens = Array.isArray(added) ? (added as readonly (Special & { special?: boolean })[]) : [];
  const { additional_special_tokens: additional } = tokenizerConfig;
  const named = Object.entries(tokenizerConfig).filter(([name]) => /^[a-z]+_token$/.test(name));
  const contents = [...named.map(([, token]) => token), ...(Array.isArray(additional) ? additional : [])].map(
    contentOf,
  );
  const isSpecial = ({ special, content, id }: (typeof tokens)[number]) =>
    content !== '' && (special === true || stops.has(id) || contents.includes(content));
  return tokens.filter(isSpecial);
}
