import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { alertStatuses, NOTE_LENGTH } from '../../../domain/alerts/alert.js';
import { ruleTypes, severities } from '../../../domain/alerts/alert-rule.js';
import { contractsOf } from '../contract.js';
import { Page, pageOfList } from '../paging.js';
import { ActorId, choice, id, namedObject, shortText, Timestamp, textLike } from '../schemas.js';

const api = contractsOf('Monitoring');
const path = '/v1/alerts';
const one = `${path}/{alert_id}` as const;

export const AlertAnswer = namedObject('Alert', {
  id: id('alr'),
  rule_id: id('rul'),
  rule_name: textLike('training fails', 'The name of the rule when it fired.'),
  rule_type: z.enum(ruleTypes),
  severity: z.enum(severities),
  title: textLike('3 external jobs failed in a row'),
  message: textLike('The newest 3 finished external jobs all failed.'),
  job_id: id('job').describe('The job that made the rule fire.'),
  status: z.enum(alertStatuses),
  created_at: Timestamp,
  acked_at: Timestamp.nullable().meta({ description: 'Null until the alert is acknowledged.', example: null }),
  acked_by: ActorId.nullable().meta({ example: null }),
  note: z.string().nullable(),
});

export const listAlerts = api.get(path, {
  id: 'listAlerts',
  summary: 'List the alerts, newest first',
  access: permissions.readMonitoring,
  query: Page.extend({ status: choice(alertStatuses).optional().describe('Only alerts of this status.') }),
  answer: pageOfList('alerts', AlertAnswer, 'Alerts'),
});

export const readAlert = api.get(one, {
  id: 'readAlert',
  summary: 'Read an alert',
  access: permissions.readMonitoring,
  answer: AlertAnswer,
});

export const acknowledgeAlert = api.post(`${one}/ack`, {
  id: 'acknowledgeAlert',
  summary: 'Acknowledge an alert',
  description: 'Safe to repeat. The first acknowledgement stays as it was.',
  access: permissions.manageMonitoring,
  body: namedObject('Acknowledgement', {
    note: shortText(NOTE_LENGTH).nullish().meta({ example: 'The disk was full.' }),
  }),
  bodyOptional: true,
  answer: AlertAnswer,
});
