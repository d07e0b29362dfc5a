import type { JsonSchemas } from '../../application/shared/ports.js';
import type { ChatRequest, Completion } from '../../domain/chat/chat.js';
import { AnswerOutOfFormat } from '../../domain/chat/errors.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import type { JsonObject } from '../../domain/workspace/json.js';

/** Checks answers of engines that hold no format themselves. */
export class StrictFormat {
  constructor(private readonly schemas: JsonSchemas) {}

  /** Throws InvalidRequest if the schema of a strict format cannot be used. */
  async requireUsable(request: ChatRequest, caller: string): Promise<void> {
    const schema = strictSchema(request);
    const message = schema && (await this.schemas.problem(schema, caller));
    if (message) throw new InvalidRequest([{ path: 'response_format.json_schema.schema', message }]);
  }

  /** Throws AnswerOutOfFormat if a complete answer is not in its strict format. */
  async requireKept(request: ChatRequest, completion: Completion, caller: string): Promise<void> {
    const schema = completion.finishReason === 'stop' ? strictSchema(request) : null;
    if (!schema || (await this.schemas.accepts(schema, completion.text, caller))) return;
    throw new AnswerOutOfFormat(completion);
  }
}

/** Returns the schema of a strict format. Returns null without one, or with a stop text, which may cut the answer. */
export function strictSchema({ responseFormat: format, sampling }: ChatRequest): JsonObject | null {
  return format?.json === 'schema' && format.strict && !sampling?.stop ? format.schema : null;
}
