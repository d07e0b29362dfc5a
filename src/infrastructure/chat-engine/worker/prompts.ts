/** Renders conversations by the model's chat template, and tokenizes them. */
import { Template } from '@huggingface/jinja';
import { z } from 'zod';
import type { ChatMessage } from '../../../domain/chat/chat.js';
import { firstLineOf } from '../../onnx/onnx-runtime.js';
import { BrokenModel, type ModelFiles } from './model-files.js';
import { SafeText, type SpecialToken } from './safe-text.js';
import { usingTokenizer, Vocabulary } from './vocabulary.js';

/** The model can't be asked with these messages. The message is mostly the template's own. */
export class RefusedMessages extends Error {}

/** The tokens of a conversation. If not `whole`, the conversation has more. */
export interface Prompt {
  readonly tokens: readonly number[];
  readonly whole: boolean;
}

/** Every model reads this text before it is ready. */
const SAMPLE = 'Hello! How are you today?';

const EMPTY = 'must give the model something to read: its chat template makes nothing of these';

/** Tokens that are made between two yields. */
const TOKENS_PER_STEP = 256;

export class Prompts {
  /** Some tokens to try the model on. */
  readonly sample: readonly number[];
  readonly text: SafeText;
  private readonly template: ChatTemplate;

  /** Throws BrokenModel. */
  constructor(files: ModelFiles) {
    this.text = usingTokenizer(() => new SafeText(files.tokenizer, files.tokenizerConfig, specialTokensOf(files)));
    this.sample = usingTokenizer(() => {
      const tokens = [...this.text.tokens(SAMPLE)].flat();
      if (tokens.length === 0) throw new Error('it makes no tokens');
      return tokens;
    });
    this.template = new ChatTemplate(files);
  }

  /**
   * Returns the tokens of a conversation; of a longer one than `enough` tokens only the first. Yields from time to time.
   * Throws RefusedMessages, or any error of a faulty template or tokenizer.
   */
  *of(messages: readonly ChatMessage[], enough = Number.POSITIVE_INFINITY): Generator<void, Prompt> {
    const safe = messages.map((one) => ({ ...one, content: this.text.escape(one.content) }));
    const tokens: number[] = [];
    let next = TOKENS_PER_STEP;
    for (const some of this.text.tokens(this.template.render(safe))) {
      for (const token of some) tokens.push(token);
      if (tokens.length > enough) return { tokens, whole: false };
      if (tokens.length < next) continue;
      next = tokens.length + TOKENS_PER_STEP;
      yield;
    }
    if (tokens.length === 0) throw new RefusedMessages(EMPTY);
    return { tokens, whole: true };
  }
}

const AddedTokens = z
  .array(
    z.object({
      id: z.int(),
      content: z.string(),
      special: z.boolean().optional(),
      lstrip: z.boolean().optional(),
      rstrip: z.boolean().optional(),
    }),
  )
  .nullish();

/**
 * Returns the added tokens that are marked as special, that have a name, or that end an answer. Anybody may write the
 * other added tokens, such as those around a model's thoughts.
 */
function specialTokensOf(files: ModelFiles): SpecialToken[] {
  const { data: added, error } = AddedTokens.safeParse(files.tokenizer.added_tokens);
  if (error) throw new Error(`its added_tokens are not valid: ${error.issues[0]?.message}`);
  const { stops } = new Vocabulary(files);
  const named = new Set([...Object.values(files.namedTokens), ...files.additionalTokens]);
  return (added ?? []).filter(
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
      // The built-in function throws the same error as a fault of the template, so a refusal could not be told from one.
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

  render(messages: readonly ChatMessage[]): string {
    return this.template.render({ ...this.files.namedTokens, messages, add_generation_prompt: true, refuse });
  }
}

function refuse(message: unknown): never {
  throw new RefusedMessages(firstLineOf(String(message)));
}
