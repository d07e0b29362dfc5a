import { injectable } from 'inversify';
import { AlertRuleService } from '../../../application/alerts/alert-rule.service.js';
import type { AlertRule } from '../../../domain/alerts/alert-rule.js';
import { answerFrom, deleted, hidden, listed } from '../answers.js';
import { type CallOf, type Controller, type Existence, route } from '../contract.js';
import { dateOf } from '../schemas.js';
import * as contracts from './alert-rules.contract.js';
import { alertAnswer } from './alerts.controller.js';

@injectable()
export class AlertRulesController implements Controller {
  readonly routes = [
    route(contracts.listAlertRules, async ({ caller }) =>
      listed('rules', (await this.rules.list(caller)).map(ruleAnswer)),
    ),
    route(contracts.createAlertRule, async ({ caller, body }) =>
      ruleAnswer(await this.rules.create(caller, ruleOf(body))),
    ),
    route(contracts.previewAlertRule, async ({ caller, body, memory }) => {
      const since = body.since == null ? null : dateOf(body.since);
      const { alerts, considered } = await this.rules.preview(caller, { since, memory, ...ruleOf(body) });
      return { ...listed('alerts', alerts.map(alertAnswer)), jobs_considered: considered };
    }),
    route(contracts.readAlertRule, async ({ caller, params }) =>
      ruleAnswer(await this.rules.read(caller, { id: params.rule_id })),
    ),
    route(contracts.changeAlertRule, async ({ caller, params, body }) =>
      ruleAnswer(await this.rules.change(caller, { id: params.rule_id, ...body })),
    ),
    route(contracts.deleteAlertRule, ({ caller, params: { rule_id: id } }) =>
      deleted(id, this.rules.delete(caller, { id })),
    ),
  ];

  readonly exists: Existence<'rule_id'> = {
    rule_id: ({ caller, params }) => this.rules.read(caller, { id: params.rule_id }),
  };

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

const ruleAnswer = (rule: AlertRule) =>
  answerFrom(contracts.readAlertRule.answer, rule, { failures_in_a_row: hidden, fired_in_run: hidden });
