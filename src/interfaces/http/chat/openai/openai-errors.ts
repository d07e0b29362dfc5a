import { z } from 'zod';
import type { ErrorForm, Refused } from '../../error-form.js';
import { namedObject } from '../../schemas.js';

export const OPENAI = '/openai/v1';

/** Checks whether the answers of a path have the form of OpenAI's API. */
export const isOpenAi = (path: string): boolean => path === OPENAI || path.startsWith(`${OPENAI}/`);

const Problem = namedObject('OpenAiProblem', {
  message: z.string().describe('Tells a person what is wrong and what to do.'),
  type: z.enum([
    'invalid_request_error',
    'authentication_error',
    'permission_error',
    'rate_limit_error',
    'server_error',
  ]),
  param: z.string().nullable().describe('The wrong field, such as `messages[0].content`.'),
  code: z.string().describe('The machine code. Codes never change.'),
});

/** Describes every refusal below `/openai/v1`. */
export const OpenAiError = namedObject('OpenAiError', { error: Problem });
export type OpenAiError = z.output<typeof OpenAiError>;
type OpenAiErrorType = OpenAiError['error']['type'];

const types: Readonly<Record<number, OpenAiErrorType>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
};

function openAiError(status: number, { code, error, details = [] }: Refused): OpenAiError {
  const type = types[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
  const path = details[0]?.path ?? (code === 'context_length_exceeded' ? 'messages' : '');
  const param = path === '' ? null : path.replace(/\.(\d+)(?=\.|$)/g, '[$1]');
  const message = param !== null && error.startsWith(path) ? param + error.slice(path.length) : error;
  return { error: { message, type, param, code } };
}

/** The form of the refusals below `/openai/v1`. */
export const openAiErrors: ErrorForm<OpenAiError> = {
  prefix: 'openai_',
  covers: isOpenAi,
  body: openAiError,
  schema: (codes) => ({
    type: 'object',
    required: ['error'],
    properties: {
      error: { allOf: [{ $ref: '#/components/schemas/OpenAiProblem' }, { properties: { code: { enum: codes } } }] },
    },
  }),
  findings: {
    invalid_request: { path: 'messages.0.content', message: 'is required' },
    unknown_parameter: { path: 'top_q', message: 'is not a field of this request' },
    unsupported_parameter: { path: 'tools', message: 'is not supported by the connected model' },
  },
};
