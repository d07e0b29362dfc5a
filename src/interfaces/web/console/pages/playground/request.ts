import type { components } from '../../shared/openapi-types.js';

type Schemas = components['schemas'];

/** The fields of `OpenAiChatRequest` that the playground sends. */
export type ChatRequest = Partial<Record<(typeof numberFields)[number], number>> & {
  model: string;
  messages: { role: 'system' | 'user' | 'assistant' | 'tool'; content: string }[];
  stop?: string[];
  response_format?: Schemas['JsonObjectFormat'] | Schemas['JsonSchemaFormat'];
  stream: true;
  stream_options: { include_usage: true };
};

/** The settings of a request, as the user typed them. What is empty has the value of the spec, or else is left out. */
export interface Settings {
  /** The system prompt, or null for the prompt of the spec. */
  readonly system: string | null;
  readonly temperature: string;
  readonly top_p: string;
  readonly max_tokens: string;
  readonly presence_penalty: string;
  readonly frequency_penalty: string;
  readonly seed: string;
  /** One stop text per line. */
  readonly stop: string;
  readonly format: 'text' | 'json_object' | 'json_schema';
  readonly schema: string;
}

export const defaultSettings: Settings = {
  system: null,
  temperature: '',
  top_p: '',
  max_tokens: '',
  presence_penalty: '',
  frequency_penalty: '',
  seed: '',
  stop: '',
  format: 'text',
  schema: JSON.stringify(
    {
      type: 'object',
      properties: { answer: { type: 'string', maxLength: 100 } },
      required: ['answer'],
      additionalProperties: false,
    },
    null,
    2,
  ),
};

export const numberFields = [
  'temperature',
  'top_p',
  'max_tokens',
  'presence_penalty',
  'frequency_penalty',
  'seed',
] as const;

export interface HistoryMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly text: string;
}

/** The limits of the service on the messages of a request. */
const MOST_MESSAGES = 100;
const MOST_CHARACTERS = 64_000;

/** Returns the newest messages that fit into a request beside the prompt, at least one. Omits leading answers. */
export function fittingMessages(history: readonly HistoryMessage[], system: string): readonly HistoryMessage[] {
  let most = MOST_MESSAGES - (system === '' ? 0 : 1);
  let left = MOST_CHARACTERS - [...system].length;
  const fitting: HistoryMessage[] = [];
  for (const message of history.toReversed()) {
    if (message.role === 'tool') continue; // no engine accepts it, because its tool call is not stored
    left -= [...message.text].length;
    most -= 1;
    if (fitting.length > 0 && (most < 0 || left < 0)) break;
    fitting.unshift(message);
  }
  while (fitting.length > 1 && fitting[0]?.role === 'assistant') fitting.shift();
  return fitting;
}

/** Returns why the schema cannot be sent, or null if it can. The service checks its keywords. */
export function schemaProblem(schema: string): string | null {
  try {
    const parsed: unknown = JSON.parse(schema);
    const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
    return isObject ? null : 'The schema must be a JSON object.';
  } catch (reason) {
    return `This is not JSON: ${(reason as Error).message}.`;
  }
}

interface Asked {
  readonly model: string;
  readonly settings: Settings;
  readonly history: readonly HistoryMessage[];
}

export const stopsOf = ({ stop }: Settings): string[] => stop.split('\n').filter((line) => line !== '');

/** Returns the request for an answer to the last message of `history`. */
export function requestOf({ model, settings, history }: Asked): ChatRequest {
  const system = (settings.system ?? '').trim();
  const stop = stopsOf(settings);
  const numbers = numberFields.filter((name) => settings[name].trim() !== '');
  return {
    model,
    messages: [
      ...(system === '' ? [] : [{ role: 'system' as const, content: system }]),
      ...fittingMessages(history, system).map(({ role, text }) => ({ role, content: text })),
    ],
    ...Object.fromEntries(numbers.map((name) => [name, Number(settings[name])])),
    ...(stop.length > 0 && { stop }),
    ...formatOf(settings),
    stream: true,
    stream_options: { include_usage: true },
  };
}

export function formatOf({ format, schema }: Settings): Pick<ChatRequest, 'response_format'> {
  if (format === 'text') return {};
  if (format === 'json_object') return { response_format: { type: 'json_object' } };
  return {
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'answer', strict: true, schema: JSON.parse(schema) },
    },
  };
}
