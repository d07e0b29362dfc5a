import { injectable } from 'inversify';
import { AlertRuleService, type RuleWithBudget } from '../../../application/alerts/alert-rule.service.js';
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

const ruleOf = ({ name, threshold, severity, ...body }: Body) => ({
  name,
  ruleType: body.rule_type,
  threshold,
  severity,
  jobKind: body.job_kind,
  budgetId: body.budget_id,
  windowMinutes: body.window_minutes,
  minCalls: body.min_calls,
});

const ruleAnswer = ({ budget, ...rule }: RuleWithBudget) =>
  answerFrom(contracts.readAlertRule.answer, rule, {
    budget: budget && { scope: budget.scope, scope_id: budget.scopeId, unit: budget.unit, period: budget.period },
    failures_in_a_row: hidden,
    fired_in_run: hidden,
    fired_at: hidden,
  });
