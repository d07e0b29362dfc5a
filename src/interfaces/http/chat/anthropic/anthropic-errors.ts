import { z } from 'zod';
import type { ErrorForm, Refused } from '../../error-form.js';
import { namedObject } from '../../schemas.js';
import { OPENAI } from '../openai/openai-errors.js';

export const MESSAGES = `${OPENAI}/messages`;

/** Checks whether the answers of a path have the form of Anthropic's API. */
export const isAnthropic = (path: string): boolean => path === MESSAGES || path.startsWith(`${MESSAGES}/`);

const errorTypes = [
  'invalid_request_error',
  'authentication_error',
  'permission_error',
  'not_found_error',
  'request_too_large',
  'rate_limit_error',
  'timeout_error',
  'api_error',
  'overloaded_error',
] as const;
type ErrorType = (typeof errorTypes)[number];

const types: Readonly<Record<number, ErrorType>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

const Problem = namedObject('AnthropicProblem', {
  type: z.enum(errorTypes),
  message: z.string().describe('Tells a person what is wrong and what to do.'),
  details: z.object({
    error_code: z.string().describe('The machine code. Codes never change.'),
    unsupported: z.array(z.string()).optional().describe('The fields that are not supported.'),
  }),
});

/** Describes every refusal below `/openai/v1/messages`. */
export const AnthropicError = namedObject('AnthropicError', {
  type: z.literal('error'),
  error: Problem,
  request_id: z.string().describe('The same as in `X-Request-Id` and in the log lines of this request.'),
});
type AnthropicError = z.output<typeof AnthropicError>;

/** The names of engine-neutral fields in Anthropic's API. */
const names: readonly (readonly [RegExp, string])[] = [
  [/\bresponse_format(\.json_schema)?/g, 'output_config.format'],
  [/\b(?<!_)stop\b/g, 'stop_sequences'],
  [/\breasoning_effort\b/g, 'thinking'],
  [/\bparallel_tool_calls\b/g, 'tool_choice.disable_parallel_tool_use'],
];

function anthropicError(status: number, { code, error, details = [], request_id }: Refused): AnthropicError {
  const path = details[0]?.path ?? '';
  const own = names.reduce((text, [neutral, name]) => text.replace(neutral, name), path);
  const message = error.startsWith(path) ? own + error.slice(path.length) : error;
  const type = types[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
  const unsupported = code === 'thread_unsupported_request' && { unsupported: ['thread'] };
  return { type: 'error', error: { type, message, details: { error_code: code, ...unsupported } }, request_id };
}

/** The form of the refusals below `/openai/v1/messages`. */
export const anthropicErrors: ErrorForm<AnthropicError> = {
  prefix: 'anthropic_',
  covers: isAnthropic,
  body: anthropicError,
  // `unsupported` is repeated because Redocly reads the two schemas of `details` one by one.
  schema: (codes) => ({
    type: 'object',
    required: ['type', 'error', 'request_id'],
    properties: {
      type: { const: 'error' },
      error: {
        allOf: [
          { $ref: '#/components/schemas/AnthropicProblem' },
          {
            properties: {
              details: {
                properties: { error_code: { enum: codes }, unsupported: { type: 'array', items: { type: 'string' } } },
              },
            },
          },
        ],
      },
      request_id: { type: 'string' },
    },
  }),
  findings: {
    invalid_request: { path: 'messages.0.content', message: 'is required' },
    unknown_parameter: { path: 'top_q', message: 'is not a field of this request' },
    unsupported_parameter: { path: 'tools', message: 'is not supported by the connected model' },
  },
};
