import { z } from 'zod';
import { contract } from '../contract.js';

const tag = 'Operations';
const HealthAnswer = z.object({ status: z.literal('ok') }).meta({ id: 'Health' });

export const live = contract({
  id: 'live',
  method: 'get',
  path: '/health/live',
  tag,
  summary: 'Whether the process answers',
  access: 'public',
  answer: HealthAnswer,
});

export const ready = contract({
  id: 'ready',
  method: 'get',
  path: '/health/ready',
  tag,
  summary: 'Whether the service can serve: its database answers, its tables are up to date, and it is not ending',
  access: 'public',
  answer: HealthAnswer,
  refusals: ['storage_unavailable', 'shutting_down'],
});
