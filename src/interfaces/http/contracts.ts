import * as accounts from './accounts/accounts.contract.js';
import * as credentials from './accounts/credentials.contract.js';
import * as team from './accounts/team.contract.js';
import * as alertRules from './alerts/alert-rules.contract.js';
import * as alerts from './alerts/alerts.contract.js';
import * as webhooks from './alerts/webhooks.contract.js';
import * as audit from './audit/audit.contract.js';
import * as completions from './chat/completions.contract.js';
import * as conversations from './chat/conversations.contract.js';
import * as runtime from './chat/runtime.contract.js';
import type { Contract } from './contract.js';
import * as deployments from './deployments/deployments.contract.js';
import * as modelFiles from './deployments/model-files.contract.js';
import * as evaluations from './jobs/evaluations.contract.js';
import * as jobs from './jobs/jobs.contract.js';
import * as monitoring from './operations/monitoring.contract.js';
import * as status from './operations/status.contract.js';
import * as datasetVersions from './workspace/dataset-versions.contract.js';
import * as datasets from './workspace/datasets.contract.js';
import * as modelAliases from './workspace/model-aliases.contract.js';
import * as models from './workspace/models.contract.js';
import * as projects from './workspace/projects.contract.js';
import * as starters from './workspace/starters.contract.js';

/** Every route of the service, in the order in which the reference shows them. */
export const contracts: readonly Contract[] = [
  accounts,
  team,
  credentials,
  starters,
  projects,
  datasets,
  datasetVersions,
  models,
  modelAliases,
  runtime,
  completions,
  conversations,
  jobs,
  evaluations,
  alertRules,
  alerts,
  webhooks,
  monitoring,
  audit,
  deployments,
  modelFiles,
  status,
]
  .flatMap((module) => Object.values(module) as unknown[])
  .filter((value): value is Contract => typeof value === 'object' && value !== null && 'method' in value);
