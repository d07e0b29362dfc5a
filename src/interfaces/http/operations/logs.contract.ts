import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { contract } from '../contract.js';
import { Count, Tail, text } from '../schemas.js';

const JOB_ID = 100;

export const readLog = contract({
  id: 'readLog',
  method: 'get',
  path: '/v1/logs',
  tag: 'Monitoring',
  summary: 'Read the end of the log',
  description:
    'Answers the newest lines, oldest first. Each is a JSON object with `time`, `level` and `event`. Lines of a request or ' +
    'a job carry `request_id` or `job_id`. An answer has at most 16 MB of lines.',
  access: permissions.readMonitoring,
  query: z.object({
    tail: Tail,
    job_id: text()
      .max(JOB_ID, { error: `must have at most ${JOB_ID} characters` })
      .optional()
      .meta({ description: 'Only lines that mention this job, among the newest 64 MB of the log.' }),
  }),
  answer: z
    .object({
      lines: z.array(
        z.string().meta({ example: '{"time":"2025-11-21T00:00:00.123Z","level":"info","event":"request"}' }),
      ),
      count: Count,
      file: z.string().meta({ description: 'The path of the log on the server.', example: '/var/lib/tenon/tenon.log' }),
    })
    .meta({ id: 'LogTail' }),
});
