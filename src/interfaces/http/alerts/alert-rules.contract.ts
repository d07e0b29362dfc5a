import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { ruleLimits, ruleTypes, severities } from '../../../domain/alerts/alert-rule.js';
import { jobKinds } from '../../../domain/jobs/job.js';
import { contractsOf } from '../contract.js';
import { Count, listOf } from '../paging.js';
import { choice, Deleted, id, intLike, namedObject, nameText, number, Timestamp, textLike, truth } from '../schemas.js';
import { AlertAnswer } from './alerts.contract.js';

const api = contractsOf('Monitoring');
const path = '/v1/alerts/rules';
const one = `${path}/{rule_id}` as const;
const { rules, nameLength, failures, seconds } = ruleLimits;

const threshold = number().meta({
  exclusiveMinimum: 0,
  maximum: seconds,
  description:
    `For \`consecutive_failures\` a whole number of jobs, 1 to ${failures}. ` +
    `For \`job_duration_exceeded\` seconds, above 0 and at most ${seconds}.`,
  example: 3,
});
const name = nameText(nameLength, 'training fails');
const severity = choice(severities).describe(
  'The severity of its alerts. The default is `P1` for `consecutive_failures` and `P2` for `job_duration_exceeded`.',
);

/** Seconds since the epoch. This moment lies in the year 5138. */
const LATEST = 100_000_000_000;

const RuleAnswer = namedObject('AlertRule', {
  id: id('rul'),
  name: textLike('training fails'),
  rule_type: z.enum(ruleTypes),
  threshold: z.number().meta({ example: 3 }),
  enabled: z.boolean(),
  created_at: Timestamp,
  severity: z.enum(severities),
  job_kind: z.enum(jobKinds).nullable().meta({ description: 'Null: jobs of every kind.', example: null }),
});

const fields = {
  name,
  rule_type: choice(ruleTypes),
  threshold,
  severity: severity.nullish(),
  job_kind: choice(jobKinds).nullish().describe('Makes the rule look only at jobs of this kind.'),
};

/** Describes in JSON Schema what the domain checks: a threshold of failures is a whole number. */
const thresholdFitsType = {
  anyOf: [
    { properties: { rule_type: { const: 'job_duration_exceeded' } } },
    { properties: { threshold: { type: 'integer' as const, maximum: failures } } },
  ],
};

const moment = 'must be a time in seconds since the epoch';
const Since = number().min(0, { error: moment }).max(LATEST, { error: moment });

export const listAlertRules = api.get(path, {
  id: 'listAlertRules',
  summary: 'List the alert rules',
  access: permissions.readMonitoring,
  answer: listOf('rules', RuleAnswer, 'AlertRules'),
});

export const createAlertRule = api.post(path, {
  id: 'createAlertRule',
  summary: 'Create an alert rule',
  description:
    'A rule looks at the finished jobs of all teams, in the order in which they finished. `consecutive_failures` fires ' +
    'once when the newest `threshold` jobs all failed, and again only after a success. It counts jobs that failed before ' +
    'the rule was made, and skips cancelled ones. `job_duration_exceeded` fires once for each job that ran longer. ' +
    `There are at most ${rules} rules.`,
  access: permissions.manageMonitoring,
  body: z.object(fields).meta({ id: 'NewAlertRule', ...thresholdFitsType }),
  status: 201,
  answer: RuleAnswer,
});

export const previewAlertRule = api.post(`${path}/preview`, {
  id: 'previewAlertRule',
  summary: 'Preview the alerts that a rule would have fired',
  description:
    'Applies the rule to the newest 10,000 finished jobs (of `job_kind`, if given), oldest first, with the code that ' +
    'fires alerts. Stores nothing.',
  access: permissions.readMonitoring,
  body: z
    .object({
      ...fields,
      since: Since.nullish().describe('Only jobs that finished then or later, in seconds since the epoch.'),
    })
    .meta({ id: 'AlertRulePreview', ...thresholdFitsType }),
  answer: namedObject('AlertRuleOutcome', {
    alerts: z.array(
      AlertAnswer.pick({
        rule_name: true,
        rule_type: true,
        severity: true,
        title: true,
        message: true,
        job_id: true,
        created_at: true,
      }).meta({ id: 'WouldBeAlert' }),
    ),
    count: Count,
    jobs_considered: intLike(120),
  }),
  refusals: ['busy'],
});

export const readAlertRule = api.get(one, {
  id: 'readAlertRule',
  summary: 'Read an alert rule',
  access: permissions.readMonitoring,
  answer: RuleAnswer,
});

export const changeAlertRule = api.patch(one, {
  id: 'changeAlertRule',
  summary: 'Change an alert rule',
  description: 'A disabled rule keeps counting failures in a row, but fires nothing.',
  access: permissions.manageMonitoring,
  body: z
    .object({
      name: name.optional(),
      threshold: threshold.optional(),
      severity: choice(severities).optional(),
      enabled: truth().optional().describe('Whether the rule fires.'),
    })
    .meta({ id: 'AlertRuleChange', example: { enabled: false } }),
  answer: RuleAnswer,
});

export const deleteAlertRule = api.delete(one, {
  id: 'deleteAlertRule',
  summary: 'Delete an alert rule',
  description: 'The alerts of the rule stay.',
  access: permissions.manageMonitoring,
  answer: Deleted,
});
