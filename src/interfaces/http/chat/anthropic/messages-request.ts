/** Describes requests to Anthropic's Messages API. A block may have further fields, which have no effect. */
import { z } from 'zod';
import { chatLimits } from '../../../../domain/chat/chat.js';
import { ThreadUnsupported } from '../../../../domain/chat/errors.js';
import type { DomainError } from '../../../../domain/shared/errors.js';
import { isObject, type Json } from '../../../../domain/workspace/json.js';
import { AnyJson, AnyObject, text, truth, wanted, wholeNumber } from '../../schemas.js';
import { modelField, within, withoutEffect } from '../dialects.js';

const MAX_STOPS = 16;

const TextBlock = z.looseObject({ type: z.literal('text'), text: text() }).meta({ id: 'AnthropicTextBlock' });

const ImageSource = z.discriminatedUnion(
  'type',
  [
    z.looseObject({
      type: z.literal('base64'),
      media_type: text().regex(/^image\/[\w.+-]{1,50}$/, { error: 'must be the type of a picture, such as image/png' }),
      data: text(),
    }),
    z.looseObject({ type: z.literal('url'), url: text() }),
  ],
  { error: 'must have the type base64 or url' },
);

const ImageBlock = z.looseObject({ type: z.literal('image'), source: ImageSource }).meta({ id: 'AnthropicImageBlock' });

const resultBlocks = 'must be a text or an array of blocks with the type text or image';

const ToolResultBlock = z
  .looseObject({
    type: z.literal('tool_result'),
    tool_use_id: text(),
    content: z
      .union([text(), z.array(z.discriminatedUnion('type', [TextBlock, ImageBlock]))], { error: resultBlocks })
      .nullish(),
    is_error: truth().nullish(),
  })
  .meta({ id: 'AnthropicToolResultBlock' });

const ToolUseBlock = z
  .looseObject({ type: z.literal('tool_use'), id: text(), name: text(), input: AnyJson })
  .meta({ id: 'AnthropicToolUseBlock' });

const ThinkingBlock = z
  .looseObject({ type: z.literal('thinking'), thinking: text() })
  .meta({ id: 'AnthropicThinkingBlock' });

const RedactedBlock = z.looseObject({ type: z.literal('redacted_thinking') }).meta({ id: 'AnthropicRedactedBlock' });

const Block = z.discriminatedUnion(
  'type',
  [TextBlock, ImageBlock, ToolUseBlock, ToolResultBlock, ThinkingBlock, RedactedBlock],
  {
    error: 'must be a block with the type text, image, tool_use, tool_result, thinking or redacted_thinking',
  },
);
export type Block = z.output<typeof Block>;

const blocks = 'must be a text or an array of blocks';

const Message = z
  .looseObject(
    {
      role: z.enum(['user', 'assistant', 'system'], { error: 'must be one of user, assistant, system' }),
      content: z.union([text(), z.array(Block)], { error: wanted('a text or an array of blocks') }),
    },
    { error: wanted('a JSON object') },
  )
  .superRefine(({ role, content }, { addIssue }) => {
    if (typeof content === 'string') return;
    for (const [i, { type }] of content.entries()) {
      if (allowed[role].includes(type)) continue;
      addIssue({
        code: 'custom',
        path: ['content', i],
        message: `must not have the type ${type} for the role ${role}`,
      });
      return;
    }
  })
  .meta({ id: 'AnthropicMessageParam', example: { role: 'user', content: 'What is the capital of France?' } });
export type MessageParam = z.output<typeof Message>;

const allowed: Readonly<Record<'user' | 'assistant' | 'system', readonly Block['type'][]>> = {
  user: ['text', 'image', 'tool_result'],
  assistant: ['text', 'tool_use', 'thinking', 'redacted_thinking'],
  system: ['text'],
};

const messagesError = 'must be an array with at least one message';

/** A tool without a type is a function. Others run at Anthropic, and are left out. */
const Tool = z
  .looseObject(
    {
      type: text().nullish(),
      name: text(),
      description: text().nullish(),
      input_schema: AnyObject.optional().describe('Required, except for tools that run at Anthropic.'),
      strict: truth().nullish(),
    },
    { error: wanted('a JSON object') },
  )
  .superRefine(({ type, input_schema: schema }, { addIssue }) => {
    if (isOwn(type) && !schema) addIssue({ code: 'custom', path: ['input_schema'], message: 'is required' });
  })
  .meta({ id: 'AnthropicTool' });
export type ToolParam = z.output<typeof Tool>;

/** Returns whether a tool with this type is a function of the caller. */
export const isOwn = (type: string | null | undefined): boolean => !type || type === 'custom';

const parallel = { disable_parallel_tool_use: truth().nullish() };
const ToolChoice = z.discriminatedUnion(
  'type',
  [
    z.looseObject({ type: z.literal('auto'), ...parallel }),
    z.looseObject({ type: z.literal('any'), ...parallel }),
    z.looseObject({ type: z.literal('tool'), name: text(), ...parallel }),
    z.looseObject({ type: z.literal('none') }),
  ],
  { error: 'must have the type auto, any, tool or none' },
);

const Thinking = z.discriminatedUnion(
  'type',
  [
    z.looseObject({ type: z.literal('enabled'), budget_tokens: wholeNumber(1, Number.MAX_SAFE_INTEGER) }),
    z.looseObject({ type: z.literal('adaptive') }),
    z.looseObject({ type: z.literal('between_tools') }),
    z.looseObject({ type: z.literal('disabled') }),
  ],
  { error: 'must have the type enabled, adaptive, between_tools or disabled' },
);

const OutputConfig = z.looseObject({
  effort: text().nullish(),
  format: z
    .looseObject({ type: z.literal('json_schema', { error: 'must be "json_schema"' }), schema: AnyObject })
    .nullish(),
});

const counted = {
  model: modelField,
  messages: z
    .array(Message, { error: messagesError })
    .min(1, { error: messagesError })
    .meta({ example: [{ role: 'user', content: 'What is the capital of France?' }] }),
  system: z.union([text(), z.array(TextBlock)], { error: blocks }).nullish(),
  tools: z
    .array(Tool, { error: wanted('an array') })
    .nullish()
    .describe('Tools that run at Anthropic, such as `web_search_20250305`, are left out.'),
  tool_choice: ToolChoice.nullish().describe('`any` and `tool` are only for requests with tools that the caller runs.'),
  thinking: Thinking.nullish().describe('Engines elsewhere get it as `reasoning_effort`. Other models ignore it.'),
  output_config: OutputConfig.nullish().describe('The answer is JSON that validates against `format.schema`.'),
  cache_control: AnyJson.optional().describe('The prefix cache needs no marks. Marks only show in the usage.'),
  context_management: withoutEffect,
  speed: withoutEffect,
  user_profile_id: withoutEffect,
  workspace_id: withoutEffect,
};

/** A field that is not listed goes to an engine elsewhere as it is. Other models refuse it. */
export const CountRequest = z.looseObject(counted).meta({ id: 'AnthropicCountTokensRequest' });
export type CountRequest = z.output<typeof CountRequest>;

/** Returns whether the caller marks a part of the prompt for the cache. */
export function marksCache({ cache_control, system, tools, messages }: CountRequest): boolean {
  const blocks = [system, tools, ...messages.map(({ content }) => content)].filter(Array.isArray).flat();
  return isObject(cache_control) || blocks.some((block) => isObject(block.cache_control));
}

const stops = `must be an array of at most ${MAX_STOPS} texts that are not empty`;

export const MessagesRequest = z
  .looseObject({
    ...counted,
    max_tokens: wholeNumber(1, Number.MAX_SAFE_INTEGER).meta({
      description: 'A number above the rest of the context is lowered to the rest.',
      example: 256,
    }),
    stream: truth().nullish().describe('Answers server-sent events.'),
    stop_sequences: z
      .array(text().min(1, { error: stops }), { error: stops })
      .max(MAX_STOPS, { error: stops })
      .nullish()
      .describe('The answer ends before the first of these texts. `stop_sequence` then tells which, if it is known.'),
    temperature: within(0, chatLimits.temperature).describe('The default of an ONNX model is 0.'),
    top_p: within(0, 1),
    top_k: wholeNumber(0, Number.MAX_SAFE_INTEGER).nullish(),
    metadata: AnyObject.nullish().describe('Engines elsewhere get `user_id` as `user`.'),
    container: withoutEffect,
    diagnostics: withoutEffect,
    inference_geo: withoutEffect,
    service_tier: withoutEffect,
  })
  .meta({ id: 'AnthropicMessagesRequest' });
export type MessagesRequest = z.output<typeof MessagesRequest>;

/** The names of all fields that a request may have. */
export const knownFields: ReadonlySet<string> = new Set(Object.keys(MessagesRequest.shape));

/** Refuses a thread of messages. Anthropic's library then sends the request without it. */
export function refuseThread(json: unknown): DomainError | null {
  const { thread } = isObject(json as Json) ? (json as { thread?: unknown }) : {};
  return thread === undefined || thread === null ? null : new ThreadUnsupported();
}
