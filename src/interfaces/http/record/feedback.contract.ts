import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { feedbackLimits } from '../../../domain/record/feedback.js';
import { contractsOf } from '../contract.js';
import { AnyJson, anyOf, number, shortText, text, visible } from '../schemas.js';
import { CallName, FeedbackAnswer } from './calls.contract.js';

const api = contractsOf('Calls');

const { label, comment, correctionBytes, each, eachBytes } = feedbackLimits;
const range = { error: 'must be a number from -1 to 1' };

export const giveFeedback = api.post('/v1/calls/{call_id}/feedback', {
  id: 'giveFeedback',
  summary: 'Give feedback on a call',
  description:
    'Any account of the team may, also with an API key that may chat. The last feedback of an account counts, the earlier ' +
    'ones are history. Texts and corrections are masked as the project wants it for its calls. What cannot be masked is ' +
    `refused. An account may give feedback on a call ${each} times, with ${eachBytes / 1024} KB together.`,
  access: permissions.chat,
  params: { call_id: CallName },
  body: z
    .object({
      score: number().min(-1, range).max(1, range).nullable().default(null).meta({
        description: 'From -1, bad, to 1, good.',
        example: 1,
      }),
      label: text()
        .nullable()
        .default(null)
        .meta({ ...visible(label), type: ['string', 'null'], example: 'helpful' }),
      comment: shortText(comment).nullable().default(null).meta({ example: 'Short and right.' }),
      correction: AnyJson.default(null).meta({
        description: `The answer that the call should have had, for plain answers as text. At most ${correctionBytes / 1024} KB as JSON.`,
        example: 'Paris',
      }),
    })
    .meta({ id: 'FeedbackRequest', anyOf: anyOf('score', 'label', 'comment', 'correction') }),
  exactNumbers: true,
  // A correction becomes a part of a record, which lies deeper in the body of a dataset.
  mostLevels: 28,
  status: 201,
  answer: FeedbackAnswer,
  refusals: [],
});
