import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { MOST_ENTRIES, usageBuckets, usageGroups } from '../../../domain/jobs/usage.js';
import { contractsOf } from '../contract.js';
import { Count } from '../paging.js';
import { Cost, Currency, choice, intLike, namedObject, secondsText, Timestamp, textLike } from '../schemas.js';

const api = contractsOf('Jobs');

const Percentiles = namedObject('Percentiles', {
  p50: z.number().meta({ example: 0.21 }),
  p95: z.number().meta({ example: 0.48 }),
  p99: z.number().meta({ example: 0.93 }),
});

const UsageAnswer = namedObject('Usage', {
  start: Timestamp.meta({
    description: 'Seconds since the epoch: a multiple of the length of a bucket.',
    example: 1763683200,
  }),
  group: textLike(
    'prj_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11',
    'The id of the project, model, API key or account. Null without `group_by`, and for calls that have none, such as ' +
      'those by session under `key`.',
  ).nullable(),
  calls: intLike(120, 'Failed and cancelled calls included.'),
  failures: z
    .record(z.string(), z.int())
    .meta({ description: 'The number of failed calls by the code of their error.', example: { inference_timeout: 2 } }),
  tokens_in: intLike(3240),
  tokens_out: intLike(840),
  latency: Percentiles.describe('Seconds from the arrival of a call to its end.'),
  time_to_first_token: Percentiles.nullable().describe(
    'Seconds from the arrival of a call to the first part of its answer. Null if no answer was streamed.',
  ),
  cost: Cost.nullable().meta({
    description: 'The exact sum of the costs of the calls, in `currency`. Null if no call has a price.',
  }),
});

export const readUsage = api.get('/v1/usage', {
  id: 'readUsage',
  summary: 'Sum up calls by time',
  description:
    'Sums up the chat completions, embedding calls and predictions that a model began, and the model calls of evaluations, ' +
    'by the time of their end. Members see their own calls. Developers and admins see the calls of their team. Developers and admins of the operator team ' +
    'see the calls of all teams. Buckets begin at multiples of their length in UTC. Empty ones are left out. Entries ' +
    `are sorted by \`start\`, then by \`group\`. An answer has at most the newest ${MOST_ENTRIES} entries. ` +
    'Sums are exact, and percentiles are within 5 %. ' +
    'Minutes are kept for a day, hours for eight days, and days for good. Earlier times in `since` and `until` are ' +
    'rounded down to the hour or the day.',
  access: permissions.readJobs,
  query: z.object({
    since: secondsText()
      .optional()
      .describe('Seconds since the epoch. Default: an hour of minutes, a day of hours or 30 days before `until`.'),
    until: secondsText().optional().describe('Seconds since the epoch, exclusive, not before `since`. Default: now.'),
    bucket: choice(usageBuckets).default('hour'),
    group_by: choice(usageGroups).optional().describe('Has one entry for each group in a bucket.'),
  }),
  answer: namedObject('UsageSummary', {
    since: Timestamp,
    until: Timestamp,
    currency: Currency,
    usage: z.array(UsageAnswer),
    count: Count,
  }),
  refusals: ['busy'],
});
