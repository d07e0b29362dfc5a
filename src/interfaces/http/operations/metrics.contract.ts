import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { contract } from '../contract.js';

export const metrics = contract({
  id: 'metrics',
  method: 'get',
  path: '/metrics',
  tag: 'Operations',
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
