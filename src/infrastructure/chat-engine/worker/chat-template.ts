import { Template } from '@huggingface/jinja';
import type { ChatMessage } from '../../../domain/chat/chat.js';
import { firstLineOf } from '../../onnx/native-errors.js';
import { BrokenModel } from './broken-model.js';
import type { ModelFiles } from './model-files.js';

/** The model can't be asked with these messages; mostly in the words of its template. */
export class RefusedMessages extends Error {}

const SAMPLE: readonly ChatMessage[] = [{ role: 'user', content: 'Hello' }];

/** How the model wants a conversation to be written. */
export class ChatTemplate {
  private readonly template: Template;
  private readonly specialTokens: Record<string, string>;

  /** Throws BrokenModel. */
  constructor({ template: { text, file }, tokenizerConfig }: ModelFiles) {
    const names = ['bos_token', 'eos_token', 'pad_token', 'unk_token'];
    this.specialTokens = Object.fromEntries(
      names.flatMap((name) => {
        const token = contentOf(tokenizerConfig[name]);
        return token === null ? [] : [[name, token]];
      }),
    );
    try {
      this.template = new Template(text);
      // A refusal has to be told from a fault of the template, and the built-in function throws the same error for both.
      this.template.parsed.body.unshift(...new Template('{% set raise_exception = refuse %}').parsed.body);
    } catch (error) {
      throw new BrokenModel('chat template', `the one of ${file} does not compile: ${firstLineOf(error)}`);
    }
    this.tryOut(file);
  }

  /** Throws RefusedMessages, or whatever a faulty template leads to. */
  render(messages: readonly ChatMessage[]): string {
    return this.template.render({ ...this.specialTokens, messages, add_generation_prompt: true, refuse });
  }

  private tryOut(file: string): void {
    try {
      if (this.render(SAMPLE) === '') throw new Error('it makes nothing of a message');
    } catch (error) {
      if (error instanceof RefusedMessages) return;
      throw new BrokenModel('chat template', `the one of ${file} does not render: ${firstLineOf(error)}`);
    }
  }
}

/** A special token is written as a string, or as an object that holds it. */
export function contentOf(token: unknown): string | null {
  const content = typeof token === 'object' && token !== null ? (token as { content?: unknown }).content : token;
  return typeof content === 'string' ? content : null;
}

function refuse(message: unknown): never {
  throw new RefusedMessages(firstLineOf(String(message)));
}
