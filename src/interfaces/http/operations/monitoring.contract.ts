import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { contract } from '../contract.js';
import { Count, Tail, text } from '../schemas.js';

const tag = 'Operations';
const HealthAnswer = z.object({ status: z.literal('ok') }).meta({ id: 'Health' });

export const live = contract({
  id: 'live',
  method: 'get',
  path: '/health/live',
  tag,
  summary: 'Check that the process answers',
  access: 'public',
  answer: HealthAnswer,
});

export const ready = contract({
  id: 'ready',
  method: 'get',
  path: '/health/ready',
  tag,
  summary: 'Check that the service can serve',
  description: 'The database answers, its migrations are done, and the service is not shutting down.',
  access: 'public',
  answer: HealthAnswer,
  refusals: ['storage_unavailable', 'shutting_down'],
});

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

export const metrics = contract({
  id: 'metrics',
  method: 'get',
  path: '/metrics',
  tag,
  summary: 'Read the metrics of this instance, for Prometheus',
  description:
    'Each instance reports about itself. While the database is out of reach, `tenon_database_up` is 0 and the metrics that ' +
    'come from the database are left out. Calls with the master key are not rate-limited. Other calls are, by address.',
  access: permissions.readMetrics,
  answer: z.string().meta({
    example:
      '# HELP tenon_database_up Whether the database answered.\n# TYPE tenon_database_up gauge\ntenon_database_up 1\n',
  }),
  answerMedia: 'text/plain',
  refusals: ['rate_limited'],
});
