import { ContainerModule } from 'inversify';
import { AcknowledgeAlert } from '../../application/alerts/acknowledge-alert.js';
import { ChangeAlertRule } from '../../application/alerts/change-alert-rule.js';
import { CreateAlertRule } from '../../application/alerts/create-alert-rule.js';
import { AlertRules } from '../../application/alerts/ports/alert-rules.js';
import { Alerts } from '../../application/alerts/ports/alerts.js';
import { PreviewAlertRule } from '../../application/alerts/preview-alert-rule.js';
import { ReadAlertRules } from '../../application/alerts/read-alert-rules.js';
import { ReadAlerts } from '../../application/alerts/read-alerts.js';
import { Audit } from '../../application/audit/audit.js';
import { JobHistory } from '../../application/jobs/ports/job-history.js';
import { Clock } from '../../application/shared/ports/clock.js';
import { Identifiers } from '../../application/shared/ports/identifiers.js';
import { OneAtATime } from '../../application/shared/ports/one-at-a-time.js';
import { TypeOrmAlertRules } from '../../infrastructure/typeorm/alerts/typeorm-alert-rules.js';
import { TypeOrmAlerts } from '../../infrastructure/typeorm/alerts/typeorm-alerts.js';
import { TypeOrmUnitOfWork } from '../../infrastructure/typeorm/typeorm-unit-of-work.js';
import { AlertRulesController } from '../../interfaces/http/alerts/alert-rules.controller.js';
import { AlertsController } from '../../interfaces/http/alerts/alerts.controller.js';
import { provide } from '../provide.js';

export const alertsModule = () =>
  new ContainerModule((module) => {
    provide(module, AlertRules, TypeOrmAlertRules, [TypeOrmUnitOfWork]);
    provide(module, Alerts, TypeOrmAlerts, [TypeOrmUnitOfWork]);
    provide(module, CreateAlertRule, CreateAlertRule, [OneAtATime, AlertRules, JobHistory, Audit, Identifiers, Clock]);
    provide(module, ChangeAlertRule, ChangeAlertRule, [OneAtATime, AlertRules, Audit]);
    provide(module, ReadAlertRules, ReadAlertRules, [AlertRules]);
    provide(module, PreviewAlertRule, PreviewAlertRule, [JobHistory, Clock]);
    provide(module, ReadAlerts, ReadAlerts, [Alerts]);
    provide(module, AcknowledgeAlert, AcknowledgeAlert, [Alerts, Audit, Clock]);
    provide(module, AlertRulesController, AlertRulesController, [
      ReadAlertRules,
      CreateAlertRule,
      PreviewAlertRule,
      ChangeAlertRule,
    ]);
    provide(module, AlertsController, AlertsController, [ReadAlerts, AcknowledgeAlert]);
  });
