import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { alertStatuses, NOTE_LENGTH } from '../../../domain/alerts/alert.js';
import { ruleTypes, severities } from '../../../domain/alerts/alert-rule.js';
import { contract } from '../contract.js';
import { Page } from '../paging.js';
import { ActorId, choice, id, pageOfList, Timestamp, text } from '../schemas.js';

const tag = 'Monitoring';
const path = '/v1/alerts';
const one = `${path}/{alert_id}` as const;

export const AlertAnswer = z
  .object({
    id: id('alr'),
    rule_id: id('rul'),
    rule_name: z.string().meta({ description: 'The name of the rule when it fired.', example: 'training fails' }),
    rule_type: z.enum(ruleTypes),
    severity: z.enum(severities),
    title: z.string().meta({ example: '3 external jobs failed in a row' }),
    message: z.string().meta({ example: 'The newest 3 finished external jobs all failed.' }),
    job_id: id('job').meta({ description: 'The job that made the rule fire.' }),
    status: z.enum(alertStatuses),
    created_at: Timestamp,
    acked_at: Timestamp.nullable().meta({ description: 'Null until the alert is acknowledged.', example: null }),
    acked_by: ActorId.nullable().meta({ example: null }),
    note: z.string().nullable(),
  })
  .meta({ id: 'Alert' });

export const listAlerts = contract({
  id: 'listAlerts',
  method: 'get',
  path,
  tag,
  summary: 'List the alerts, newest first',
  access: permissions.readMonitoring,
  query: Page.extend({ status: choice(alertStatuses).optional().meta({ description: 'Only alerts of this status.' }) }),
  answer: pageOfList('alerts', AlertAnswer, 'Alerts'),
});

export const readAlert = contract({
  id: 'readAlert',
  method: 'get',
  path: one,
  tag,
  summary: 'Read an alert',
  access: permissions.readMonitoring,
  answer: AlertAnswer,
});

const tooLong = `must have at most ${NOTE_LENGTH} characters`;

export const acknowledgeAlert = contract({
  id: 'acknowledgeAlert',
  method: 'post',
  path: `${one}/ack`,
  tag,
  summary: 'Acknowledge an alert',
  description: 'Safe to repeat. The first acknowledgement stays as it was.',
  access: permissions.manageMonitoring,
  body: z
    .object({
      note: text()
        .refine((note) => [...note].length <= NOTE_LENGTH, { error: tooLong })
        .nullish()
        .meta({
          maxLength: NOTE_LENGTH,
          description: `At most ${NOTE_LENGTH} characters.`,
          example: 'The disk was full.',
        }),
    })
    .meta({ id: 'Acknowledgement' }),
  bodyOptional: true,
  answer: AlertAnswer,
});
