import { injectable } from 'inversify';
import { AlertService } from '../../../application/alerts/alert.service.js';
import { Alert } from '../../../domain/alerts/alert.js';
import { type AnswerOf, type Controller, route } from '../contract.js';
import { paged, pageOf } from '../paging.js';
import { seconds, secondsOrNull } from '../schemas.js';
import * as contracts from './alerts.contract.js';

@injectable()
export class AlertsController implements Controller {
  readonly routes = [
    route(contracts.listAlerts, async ({ caller, query }) => {
      const found = await this.alerts.list({ by: caller, status: query.status ?? null, page: pageOf(query) });
      const { items, ...page } = paged(found, query);
      return { alerts: items.map(alertAnswer), ...page };
    }),
    route(contracts.readAlert, async ({ caller, params }) =>
      alertAnswer(await this.alerts.read({ by: caller, id: params.alert_id })),
    ),
    route(
      contracts.acknowledgeAlert,
      async ({ caller, params, body }) =>
        alertAnswer(await this.alerts.acknowledge({ by: caller, id: params.alert_id, note: body.note ?? null })),
      ({ caller, params }) => this.alerts.read({ by: caller, id: params.alert_id }),
    ),
  ];

  constructor(private readonly alerts: AlertService) {}
}

export const alertAnswer = (alert: Alert): AnswerOf<typeof contracts.readAlert> => ({
  id: alert.id,
  rule_id: alert.ruleId,
  rule_name: alert.ruleName,
  rule_type: alert.ruleType,
  severity: alert.severity,
  title: alert.title,
  message: alert.message,
  job_id: alert.jobId,
  status: Alert.status(alert),
  created_at: seconds(alert.createdAt),
  acked_at: secondsOrNull(alert.ackedAt),
  acked_by: alert.ackedBy,
  note: alert.note,
});
