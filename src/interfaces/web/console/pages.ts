import { account } from './pages/account/account.js';
import { alertPages } from './pages/alerts/alerts.js';
import { dataset } from './pages/datasets/dataset.js';
import { datasets } from './pages/datasets/datasets.js';
import { deploymentPages } from './pages/deployments/deployments.js';
import { compareEvaluations } from './pages/evaluations/compare.js';
import { evaluation } from './pages/evaluations/evaluation.js';
import { evaluations } from './pages/evaluations/evaluations.js';
import { job } from './pages/jobs/job.js';
import { jobs } from './pages/jobs/jobs.js';
import { logs } from './pages/logs/logs.js';
import { model } from './pages/model/model.js';
import { models } from './pages/models/models.js';
import { overview } from './pages/overview/overview.js';
import { playground } from './pages/playground/playground.js';
import { project } from './pages/project/project.js';
import { projectHistory } from './pages/project-history/project-history.js';
import { projects } from './pages/projects/projects.js';
import { audit } from './pages/team/audit.js';
import { team } from './pages/team/team.js';
import { webhooks } from './pages/team/webhooks.js';
import type { Page } from './shared/page.js';

/** All pages of the console, in the order of the menu. The first page that fits the address is shown. */
export const pages: readonly Page[] = [
  overview,
  playground,
  projects,
  project,
  projectHistory,
  datasets,
  dataset,
  models,
  model,
  evaluations,
  evaluation,
  compareEvaluations,
  ...deploymentPages,
  jobs,
  job,
  ...alertPages,
  logs,
  team,
  webhooks,
  audit,
  account,
];
