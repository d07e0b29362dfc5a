import { injectable } from 'inversify';
import { AlertRuleService } from '../../../application/alerts/alert-rule.service.js';
import type { AlertRule } from '../../../domain/alerts/alert-rule.js';
import { type AnswerOf, type CallOf, type Controller, route } from '../contract.js';
import { dateOf, deleted, seconds } from '../schemas.js';
import * as contracts from './alert-rules.contract.js';
import { alertAnswer } from './alerts.controller.js';

@injectable()
export class AlertRulesController implements Controller {
  readonly routes = [
    route(contracts.listAlertRules, async ({ caller }) => {
      const rules = await this.rules.list({ by: caller });
      return { rules: rules.map(ruleAnswer), count: rules.length };
    }),
    route(contracts.createAlertRule, async ({ caller, body }) =>
      ruleAnswer(await this.rules.create({ by: caller, ...ruleOf(body) })),
    ),
    route(contracts.previewAlertRule, async ({ caller, body }) => {
      const since = body.since == null ? null : dateOf(body.since);
      const { alerts, considered } = await this.rules.preview({ by: caller, since, ...ruleOf(body) });
      return { alerts: alerts.map(alertAnswer), count: alerts.length, jobs_considered: considered };
    }),
    route(contracts.readAlertRule, async ({ caller, params }) =>
      ruleAnswer(await this.rules.read({ by: caller, id: params.rule_id })),
    ),
    route(
      contracts.changeAlertRule,
      async ({ caller, params, body }) =>
        ruleAnswer(await this.rules.change({ by: caller, id: params.rule_id, ...body })),
      ({ caller, params }) => this.rules.read({ by: caller, id: params.rule_id }),
    ),
    route(contracts.deleteAlertRule, async ({ caller, params }) => {
      await this.rules.delete({ by: caller, id: params.rule_id });
      return deleted(params.rule_id);
    }),
  ];

  constructor(private readonly rules: AlertRuleService) {}
}

type Body = CallOf<typeof contracts.createAlertRule>['body'];

const ruleOf = ({ name, rule_type: ruleType, threshold, severity, job_kind: jobKind }: Body) => ({
  name,
  ruleType,
  threshold,
  severity,
  jobKind,
});

const ruleAnswer = (rule: AlertRule): AnswerOf<typeof contracts.readAlertRule> => ({
  id: rule.id,
  name: rule.name,
  rule_type: rule.ruleType,
  threshold: rule.threshold,
  enabled: rule.enabled,
  created_at: seconds(rule.createdAt),
  severity: rule.severity,
  job_kind: rule.jobKind,
});
