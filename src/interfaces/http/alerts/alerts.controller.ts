import { injectable } from 'inversify';
import { AlertService } from '../../../application/alerts/alert.service.js';
import { Alert } from '../../../domain/alerts/alert.js';
import { answerFrom, paged } from '../answers.js';
import { type Controller, type Existence, route } from '../contract.js';
import { onePage, pageOf } from '../paging.js';
import * as contracts from './alerts.contract.js';

@injectable()
export class AlertsController implements Controller {
  readonly routes = [
    route(contracts.listAlerts, async ({ caller, query }) => {
      const found = await this.alerts.list(caller, { status: query.status ?? null, page: pageOf(query) });
      return paged('alerts', onePage(found, query), alertAnswer);
    }),
    route(contracts.readAlert, async ({ caller, params }) =>
      alertAnswer(await this.alerts.read(caller, { id: params.alert_id })),
    ),
    route(contracts.acknowledgeAlert, async ({ caller, params, body }) =>
      alertAnswer(await this.alerts.acknowledge(caller, { id: params.alert_id, note: body.note ?? null })),
    ),
  ];

  readonly exists: Existence<'alert_id'> = {
    alert_id: ({ caller, params }) => this.alerts.read(caller, { id: params.alert_id }),
  };

  constructor(private readonly alerts: AlertService) {}
}

export const alertAnswer = (alert: Alert) =>
  answerFrom(contracts.readAlert.answer, alert, { status: Alert.status(alert) });
