import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { contract } from '../contract.js';

export const metrics = contract({
  id: 'metrics',
  method: 'get',
  path: '/metrics',
  tag: 'Operations',
  summary: 'Read the metrics of this process, for Prometheus',
  description:
    'Each process tells of itself. What is out of reach is left out: `tenon_database_up` is 0 while the database is. ' +
    'The master key is never limited here; whoever lacks it is, by the address.',
  access: permissions.readMetrics,
  answer: z.string().meta({
    example:
      '# HELP tenon_database_up Whether the database answered.\n# TYPE tenon_database_up gauge\ntenon_database_up 1\n',
  }),
  answerMedia: 'text/plain',
  refusals: ['rate_limited'],
});
