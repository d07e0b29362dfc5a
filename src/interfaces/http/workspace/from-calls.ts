import { z } from 'zod';
import type { SentCall } from '../../../application/record/records-from-calls.service.js';
import { expectedParts } from '../../../domain/record/record-of-call.js';
import { MOST_RECORDS } from '../../../domain/workspace/dataset-import.js';
import { choice, text, wanted } from '../schemas.js';

const FromCall = z.object({
  call_id: text().meta({
    description: 'The id of the job of a call, or the id in its answer.',
    example: 'job_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11',
  }),
  expected: choice(expectedParts).default('answer').meta({
    description:
      'The expected value: the `answer` of the call, the newest `correction` among its feedback that counts, or `none`.',
    example: 'correction',
  }),
});

/** The calls that records are made of. */
export const FromCalls = z
  .array(FromCall, { error: wanted('a list of calls') })
  .max(MOST_RECORDS, { error: `must have at most ${MOST_RECORDS} calls` })
  .meta({
    description:
      'The input of a record is the text of a single question, or else the list of messages. Messages of the system are left ' +
      'out if the project has a system prompt, which an evaluation puts before each input. The id of a record is the id of ' +
      'the job of its call, with a number if that is taken.',
  });

export const fromCalls = (sent: z.output<typeof FromCalls>): SentCall[] =>
  sent.map(({ call_id: callId, expected }) => ({ callId, expected }));
