/**
 * Checks that complete answers are valid by their schemas. The grammar of an answer makes it so, unless the grammar has
 * a fault.
 */
import { createHash } from 'node:crypto';
import type { JsonSchemas, Logger } from '../../application/shared/ports.js';
import type { ChatRequest, Completion, CompletionEnd, CompletionPart, ToolCall } from '../../domain/chat/chat.js';
import { AnswerOutOfFormat, RuntimeInvalidResponse } from '../../domain/chat/errors.js';
import type { JsonObject } from '../../domain/workspace/json.js';

/** Only older drafts allow an array as `items`. */
const OLDER_DRAFT = 'http://json-schema.org/draft-07/schema#';

type Call = Pick<ToolCall, 'name' | 'arguments'>;

export class FormCheck {
  constructor(
    private readonly schemas: JsonSchemas,
    private readonly log: Logger,
    private readonly runtime: string,
  ) {}

  /** Returns the check of the answer to one request. */
  of(request: ChatRequest, caller: string): CheckedAnswer {
    return new CheckedAnswer(
      request,
      (schema, text) => this.isValid(schema, text, caller),
      (schema, event) => {
        const digest = createHash('sha256').update(JSON.stringify(schema)).digest('hex');
        this.log.error(event, { runtime: this.runtime, schema_sha256: digest });
      },
    );
  }

  /** Returns true also if the validator cannot use the schema or takes too long: the grammar does without it. */
  private async isValid(schema: JsonObject, text: string, caller: string): Promise<boolean> {
    for (const one of [schema, { ...schema, $schema: OLDER_DRAFT }])
      if ((await this.schemas.problem(one, caller)) === null)
        return (await this.schemas.accepts(one, text, caller)) !== false;
    return true;
  }
}

class CheckedAnswer {
  private text = '';
  /** The call that the parts have begun and that is not checked. */
  private open: Call | null = null;

  constructor(
    private readonly request: ChatRequest,
    private readonly isValid: (schema: JsonObject, text: string) => Promise<boolean>,
    private readonly report: (schema: JsonObject, event: string) => void,
  ) {}

  /** Throws what `requireFormat` and `requireCall` throw. */
  async requireKept(completion: Completion): Promise<void> {
    const { toolCalls = [], finishReason } = completion;
    const complete = finishReason === 'tool_calls' ? toolCalls : toolCalls.slice(0, -1);
    for (const call of complete) await this.requireCall(call);
    await this.requireFormat(completion);
  }

  /** Adds a part of a stream. Throws before the end of a call, or of the answer, that is not valid. */
  async add({ text, toolCalls = [], end }: CompletionPart): Promise<void> {
    if (this.request.responseFormat) this.text += text;
    for (const { name, arguments: some } of toolCalls) {
      if (name !== undefined) {
        if (this.open) await this.requireCall(this.open);
        this.open = { name, arguments: some };
      } else if (this.open) this.open = { ...this.open, arguments: this.open.arguments + some };
    }
    if (!end) return;
    if (this.open && end.finishReason === 'tool_calls') await this.requireCall(this.open);
    await this.requireFormat({ text: this.text, ...end });
  }

  /** Throws RuntimeInvalidResponse if a complete call is not valid. */
  private async requireCall({ name, arguments: text }: Call): Promise<void> {
    const tool = this.request.tools?.find((one) => one.name === name);
    const schema = tool && (tool.parameters ?? { type: 'object' });
    if (schema && (await this.isValid(schema, text))) return;
    this.report(schema ?? {}, 'chat runtime broke the schema of a tool');
    throw new RuntimeInvalidResponse('it calls a tool with arguments that do not validate against its parameters.');
  }

  /** Throws AnswerOutOfFormat. A stop text may cut an answer, so an answer with stop texts is not checked. */
  private async requireFormat(completion: CompletionEnd & { text: string }): Promise<void> {
    const { responseFormat, sampling } = this.request;
    if (!responseFormat || sampling?.stop || completion.finishReason !== 'stop') return;
    const schema = responseFormat.json === 'schema' ? responseFormat.schema : { type: 'object' };
    if (await this.isValid(schema, completion.text)) return;
    this.report(schema, 'chat runtime broke a response format');
    throw new AnswerOutOfFormat(completion);
  }
}
