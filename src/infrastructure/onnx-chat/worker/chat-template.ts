/** Renders messages with the chat template of a model. */
import { Template } from '@huggingface/jinja';
import { firstLineOf } from '../../onnx/onnx-runtime.js';
import { BrokenModel, type ModelFiles } from './model-files.js';
import { END } from './safe-text.js';
import { type CallForm, callFormIn, trial } from './tools/call-form.js';

/** The chat template refuses the messages. The text of the error is usually the template's own text. */
export class RefusedMessages extends Error {
  constructor(
    message: string,
    readonly path = 'messages',
  ) {
    super(message);
  }
}

/** A message in the form of OpenAI's API, with escaped texts. */
export interface SafeMessage {
  readonly content: string;
}

export class ChatTemplate {
  /** The form in which the template writes tool calls, or null if it does not know tools. */
  readonly callForm: CallForm | null;
  private readonly template: Template;
  /** For messages with tools. */
  private readonly toolTemplate: Template;

  /** Throws BrokenModel. */
  constructor(private readonly files: ModelFiles) {
    const { text, file, withTools } = files.template;
    const broken = (problem: string, error: unknown) =>
      new BrokenModel('chat template', `the one of ${file} does not ${problem}: ${firstLineOf(error)}`);
    try {
      this.template = compiled(text);
      this.toolTemplate = withTools === undefined ? this.template : compiled(withTools);
    } catch (error) {
      throw broken('compile', error);
    }
    try {
      if (this.render([{ role: 'user', content: 'Hello' }]) === '') throw new Error('it makes nothing of a message');
    } catch (error) {
      if (!(error instanceof RefusedMessages)) throw broken('render', error);
    }
    this.callForm = this.findCallForm();
  }

  render(messages: readonly unknown[], fields: object = {}, add_generation_prompt = true): string {
    const template = 'tools' in fields ? this.toolTemplate : this.template;
    return template.render({ ...fields, ...this.files.namedTokens, messages, add_generation_prompt, refuse });
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

  private findCallForm(): CallForm | null {
    try {
      const { question, call, tools } = trial;
      if (!this.render([question], { tools }).includes(tools[0].function.name)) return null;
      return callFormIn(this.render([question, ...call], { tools }));
    } catch {
      return null;
    }
  }
}

function compiled(text: string): Template {
  const template = new Template(text);
  // The built-in `raise_exception` throws the same error as a faulty template. `refuse` throws RefusedMessages.
  template.parsed.body.unshift(...new Template('{% set raise_exception = refuse %}').parsed.body);
  return template;
}

function refuse(message: unknown): never {
  throw new RefusedMessages(firstLineOf(String(message)));
}
