/** Renders conversations with the model's chat template, and tokenizes them. */
import type { ChatRequest, RequestMessage } from '../../../domain/chat/chat.js';
import { ChatTemplate, RefusedMessages, type SafeMessage } from './chat-template.js';
import type { ModelFiles } from './model-files.js';
import { NOTHING_TO_READ, rawTokens } from './raw-text.js';
import { SafeText, specialTokensOf } from './safe-text.js';
import { usingTokenizer } from './tokenizers.js';
import type { CallForm } from './tools/call-form.js';
import { cutMessage, cutTools, longestText, templateMessages, templateTool, usedTools } from './tools/template-json.js';

/** The parts of a request that a chat template reads. */
type Conversation = Pick<ChatRequest, 'messages' | 'templateFields' | 'reasoningEffort' | 'tools' | 'toolChoice'>;

/** The tokens of a conversation. If `whole` is false, the conversation has more tokens. */
export interface Prompt {
  readonly tokens: readonly number[];
  readonly whole: boolean;
}

/** Every model reads this text before it is ready. */
const SAMPLE = 'Hello! How are you today?';

const EMPTY = 'must give the model something to read: its chat template makes no text from these messages';

/**
 * At first, each text of a message, the descriptions of all tools together, and each section of a prompt have at most
 * this many characters per token that is enough.
 */
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

  /** The form in which the model writes tool calls, or null if its chat template does not know tools. */
  get callForm(): CallForm | null {
    return this.template.callForm;
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
    const { messages, tools = [] } = chat;
    for (let most = CHARACTERS_PER_TOKEN * enough; ; most *= 2) {
      const hasLong = messages.some((one) => longestText(one) > most);
      const hasLongTools = tools.reduce((sum, { description = '' }) => sum + description.length, 0) > most;
      const cut = {
        ...chat,
        ...(hasLong && { messages: messages.map((one) => cutMessage(one, most)) }),
        ...(hasLongTools && { tools: cutTools(tools, most) }),
      };
      const { isCut, ...prompt } = yield* this.tokens(cut, enough, most);
      if (!(hasLong || hasLongTools || isCut) || !prompt.whole) return prompt;
      yield; // the next attempt takes twice as long
    }
  }

  /** Returns the tokens of a text without the chat template. Otherwise does the same as `of`. */
  *raw(text: string, enough = Number.POSITIVE_INFINITY): Generator<void, Prompt> {
    const { tokens, whole } = yield* rawTokens((rendered) => this.text.tokens(rendered), this.begin + text, enough);
    if (tokens.length === 0) throw new RefusedMessages(NOTHING_TO_READ);
    return { tokens, whole };
  }

  private *tokens(
    chat: Conversation,
    enough: number,
    longest: number,
  ): Generator<void, Prompt & { readonly isCut: boolean }> {
    const { messages, templateFields, reasoningEffort } = chat;
    const effort = reasoningEffort !== undefined && { reasoning_effort: reasoningEffort };
    const tools = usedTools(chat).map(templateTool);
    const all = { ...effort, ...templateFields, ...(tools.length > 0 && { tools }) };
    const fields = this.text.escapeAll(all) as object;
    const plain = templateMessages(messages, this.callForm?.hasShortIds ?? false);
    const safe = this.text.escapeAll(plain) as SafeMessage[];
    const tokens: number[] = [];
    let next = TOKENS_PER_STEP;
    const rendered = continues(messages) ? this.template.begun(safe, fields) : this.template.render(safe, fields);
    const sections = this.text.tokens(rendered, longest);
    let section = sections.next();
    for (; !section.done; section = sections.next()) {
      for (const token of section.value) tokens.push(token);
      if (tokens.length > enough) return { tokens, whole: false, isCut: false };
      if (tokens.length < next) continue;
      next = tokens.length + TOKENS_PER_STEP;
      yield;
    }
    if (tokens.length === 0) throw new RefusedMessages(EMPTY);
    return { tokens, whole: true, isCut: !section.value };
  }
}

/** Returns whether the last message is the beginning of the answer. */
function continues(messages: readonly RequestMessage[]): boolean {
  const last = messages.at(-1);
  return last?.role === 'assistant' && last.content !== '' && !last.toolCalls?.length;
}
