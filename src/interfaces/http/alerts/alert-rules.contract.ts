import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { ruleLimits, ruleTypes, severities, windowTypes } from '../../../domain/alerts/alert-rule.js';
import { callKinds, jobKinds } from '../../../domain/jobs/job.js';
import { budgetPeriods, budgetScopes, budgetUnits } from '../../../domain/spend/budget.js';
import { contractsOf } from '../contract.js';
import { Count, listOf } from '../paging.js';
import {
  choice,
  Deleted,
  id,
  intLike,
  namedObject,
  nameText,
  number,
  Timestamp,
  text,
  textLike,
  truth,
  wholeNumber,
} from '../schemas.js';
import { AlertAnswer } from './alerts.contract.js';

const api = contractsOf('Monitoring');
const path = '/v1/alerts/rules';
const one = `${path}/{rule_id}` as const;
const { rules, nameLength, failures, seconds, share, windowMinutes, calls } = ruleLimits;

const threshold = number().meta({
  exclusiveMinimum: 0,
  maximum: seconds,
  description:
    `For \`consecutive_failures\` a whole number of jobs, 1 to ${failures}. ` +
    `For \`job_duration_exceeded\` and \`latency_p95\` seconds, above 0 and at most ${seconds}. ` +
    `For \`budget_used\` a share of the budget's limit, above 0 and at most ${share}, with at most nine decimal places. ` +
    'For `error_rate` a share of the calls, above 0 and at most 1.',
  example: 3,
});
const name = nameText(nameLength, 'training fails');
const severity = choice(severities).describe(
  'The severity of its alerts. The default is `P1` for `consecutive_failures` and `error_rate`, else `P2`.',
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
  budget_id: id('bud').nullable().meta({ description: 'The budget of `budget_used`, else null.', example: null }),
  budget: namedObject('WatchedBudget', {
    scope: z.enum(budgetScopes),
    scope_id: textLike('prj_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11', 'The id of the team, project, account or API key.'),
    unit: z.enum(budgetUnits),
    period: z.enum(budgetPeriods),
  })
    .nullable()
    .describe(
      'The budget of the rule. Null with a `budget_id`: the budget is deleted, and the rule fires no more alerts.',
    ),
  window_minutes: z
    .int()
    .nullable()
    .meta({ description: 'The window of `latency_p95` and `error_rate`.', example: null }),
  min_calls: z.int().nullable().meta({ description: 'The least number of calls in the window.', example: null }),
});

const fields = {
  name,
  rule_type: choice(ruleTypes),
  threshold,
  severity: severity.nullish(),
  job_kind: choice(jobKinds).nullish().describe('Makes the rule look only at jobs of this kind.'),
  budget_id: text().nullish().describe('The id of a budget of any team. Only for `budget_used`, which needs it.'),
  window_minutes: wholeNumber(1, windowMinutes)
    .nullish()
    .describe('The length of the window. Only for `latency_p95` and `error_rate`, which need it.'),
  min_calls: wholeNumber(1, calls)
    .nullish()
    .describe(
      'The rule fires only with this many calls in its window. Only for `latency_p95` and `error_rate`, which need it.',
    ),
};

const absent = { type: 'null' as const };
const unwindowed = { window_minutes: absent, min_calls: absent };
const most = (maximum: number) => ({ type: 'number' as const, maximum });
const whole = { type: 'integer' as const };

/** Describes in JSON Schema what the domain checks: each type of rule has its own thresholds and fields. */
const fieldsFitType = {
  anyOf: [
    {
      properties: {
        rule_type: { const: 'consecutive_failures' },
        threshold: { ...whole, maximum: failures },
        budget_id: absent,
        ...unwindowed,
      },
    },
    { properties: { rule_type: { const: 'job_duration_exceeded' }, budget_id: absent, ...unwindowed } },
    {
      properties: {
        rule_type: { const: 'budget_used' },
        threshold: most(share),
        budget_id: { type: 'string' as const },
        ...unwindowed,
      },
      required: ['budget_id'],
    },
    ...windowTypes.map((type) => ({
      properties: {
        rule_type: { const: type },
        threshold: most(type === 'error_rate' ? 1 : seconds),
        job_kind: { type: ['string' as const, 'null' as const], enum: [...callKinds, null] },
        budget_id: absent,
        window_minutes: whole,
        min_calls: whole,
      },
      required: ['window_minutes', 'min_calls'],
    })),
  ],
};
const example = { name: 'training fails', rule_type: 'consecutive_failures', threshold: 3 };

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
    '`budget_used` fires when the calls of a budget have used the share `threshold` of its limit, once in each period and ' +
    'again after a higher limit. `latency_p95` fires when more than 5 % of the calls within the newest `window_minutes` ' +
    'took longer than `threshold` seconds from their arrival to their end, and `error_rate` when the share `threshold` of ' +
    'them failed. Both leave cancelled calls out, need at least `min_calls`, and fire again after `window_minutes` at the ' +
    `earliest. A window counts at most the newest ${calls} calls. ` +
    `There are at most ${rules} rules.`,
  access: permissions.manageMonitoring,
  body: z.object(fields).meta({ id: 'NewAlertRule', example, ...fieldsFitType }),
  status: 201,
  answer: RuleAnswer,
});

export const previewAlertRule = api.post(`${path}/preview`, {
  id: 'previewAlertRule',
  summary: 'Preview the alerts that a rule would have fired',
  description:
    'Applies the rule to the newest 10,000 finished jobs (of `job_kind`, if given), oldest first, with the code that ' +
    'fires alerts. `budget_used` takes the present limit of the budget, and knows of a period only these jobs. Stores ' +
    'nothing.',
  access: permissions.readMonitoring,
  body: z
    .object({
      ...fields,
      since: Since.nullish().describe('Only jobs that finished then or later, in seconds since the epoch.'),
    })
    .meta({ id: 'AlertRulePreview', example, ...fieldsFitType }),
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
