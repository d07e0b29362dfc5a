import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { contractsOf } from '../contract.js';
import { Count, namedObject, Tail, text } from '../schemas.js';

const operations = contractsOf('Operations');
const monitoring = contractsOf('Monitoring');

const HealthAnswer = namedObject('Health', { status: z.literal('ok') });

export const live = operations.get('/health/live', {
  id: 'live',
  summary: 'Check that the process answers',
  access: 'public',
  answer: HealthAnswer,
});

export const ready = operations.get('/health/ready', {
  id: 'ready',
  summary: 'Check that the service can serve',
  description:
    'The database answers, its migrations are done, the instance has loaded its models, or waited for them for ' +
    '`SERVICE_READY_WAIT_S`, and it is not shutting down.',
  access: 'public',
  answer: HealthAnswer,
  refusals: ['storage_unavailable', 'runtime_loading', 'shutting_down'],
});

const JOB_ID = 100;

export const readLog = monitoring.get('/v1/logs', {
  id: 'readLog',
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
      .describe('Only lines that mention this job, among the newest 64 MB of the log.'),
  }),
  answer: namedObject('LogTail', {
    lines: z.array(
      z.string().meta({ example: '{"time":"2025-11-21T00:00:00.123Z","level":"info","event":"request"}' }),
    ),
    count: Count,
    file: z.string().meta({ description: 'The path of the log on the server.', example: '/var/lib/tenon/tenon.log' }),
  }),
});

export const metrics = operations.get('/metrics', {
  id: 'metrics',
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
