import { z } from 'zod';
import { permissions } from '../../../../domain/accounts/permission.js';
import { MODEL_LEVELS } from '../../body.js';
import { contractsOf } from '../../contract.js';
import { AnyJson, intLike, textLike } from '../../schemas.js';
import { MODEL, MODEL_ANSWERED, runtimeRefusals } from '../dialects.js';
import { OPENAI, OpenAiError } from '../openai/openai-errors.js';
import { CompletionRequest, DocumentedCompletionRequest } from './completion-request.js';

const api = contractsOf('OpenAI');

/** An answer of an engine elsewhere may have further fields at every level. */
const Completion = z
  .looseObject({
    id: textLike('cmpl-0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11'),
    object: z.literal('text_completion'),
    created: intLike(1763683200, 'Whole seconds since the epoch.'),
    model: textLike('prj_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11', 'As the caller sent it.'),
    choices: z
      .array(
        z.looseObject({
          index: intLike(0, 'The number of the answer: those to the first text come first.').optional(),
          text: textLike(' Paris.').nullish(),
          logprobs: AnyJson.optional().meta({
            description:
              'Null if `logprobs` was not requested, else `tokens`, `token_logprobs`, `top_logprobs`, `text_offset`.',
            example: null,
          }),
          finish_reason: textLike('stop', '`stop` or `length`. An engine elsewhere may have others.').nullish(),
        }),
      )
      .describe('Empty in the event with the usage.'),
    usage: z
      .looseObject({
        prompt_tokens: intLike(5),
        completion_tokens: intLike(2),
        total_tokens: intLike(7).optional(),
      })
      .nullish(),
  })
  .meta({ id: 'OpenAiCompletion' });

export const createOpenAiCompletion = api.post(`${OPENAI}/completions`, {
  id: 'createOpenAiCompletion',
  summary: 'Complete a text, in the form of OpenAI',
  description:
    'The model continues a text, or each of several texts, without a chat template. For programs that expect OpenAI’s ' +
    'older API.\n\n' +
    'An engine elsewhere gets the request as it was sent, with another `model`. Its answer comes back as it is, too. ' +
    'An ONNX model refuses a field that it cannot honour with 400 `unsupported_parameter`, such as `suffix`. Streams are ' +
    'as those of `POST /openai/v1/chat/completions`.',
  access: permissions.chat,
  body: CompletionRequest,
  documentedBody: DocumentedCompletionRequest,
  bodyLimit: 'model',
  mostLevels: MODEL_LEVELS,
  answer: Completion,
  answerEvents: z.union([Completion, OpenAiError]),
  answerHeaders: { [MODEL]: MODEL_ANSWERED },
  refusals: ['not_found', 'unknown_parameter', 'unsupported_parameter', ...runtimeRefusals],
});
