import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { contract } from '../contract.js';
import { Count, clampedNumberText, text } from '../schemas.js';

const JOB_ID = 100;

export const readLog = contract({
  id: 'readLog',
  method: 'get',
  path: '/v1/logs',
  tag: 'Monitoring',
  summary: 'Read the end of the log',
  description:
    'The newest lines, oldest first, each a JSON object with `time`, `level` and `event`; lines that belong to a request ' +
    'or a job carry `request_id` or `job_id`. An answer has at most 16 MB of lines.',
  access: permissions.readMonitoring,
  query: z.object({
    tail: clampedNumberText(1, 10_000)
      .default(200)
      .meta({ description: 'How many lines at most, from 1 on; above 10000 it is 10000', default: 200 }),
    job_id: text()
      .max(JOB_ID, { error: `must have at most ${JOB_ID} characters` })
      .optional()
      .meta({ description: 'Only lines that mention it, among the newest 64 MB of the log' }),
  }),
  answer: z
    .object({
      lines: z.array(
        z.string().meta({ example: '{"time":"2025-11-21T00:00:00.123Z","level":"info","event":"request"}' }),
      ),
      count: Count,
      file: z.string().meta({ description: 'Path of the log on the server', example: '/var/lib/tenon/tenon.log' }),
    })
    .meta({ id: 'LogTail' }),
  refusals: ['invalid_request'],
});
