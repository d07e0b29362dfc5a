import { z } from 'zod';
import { contract } from '../contract.js';

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
