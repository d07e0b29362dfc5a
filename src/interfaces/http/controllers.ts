import type { Newable } from 'inversify';
import { AccountsController } from './accounts/accounts.controller.js';
import { CredentialsController } from './accounts/credentials.controller.js';
import { TeamController } from './accounts/team.controller.js';
import { AlertRulesController } from './alerts/alert-rules.controller.js';
import { AlertsController } from './alerts/alerts.controller.js';
import { WebhooksController } from './alerts/webhooks.controller.js';
import { AuditController } from './audit/audit.controller.js';
import { MessagesController } from './chat/anthropic/messages.controller.js';
import { TextCompletionsController } from './chat/completions/text-completions.controller.js';
import { ConversationsController } from './chat/conversations.controller.js';
import { EmbeddingsController } from './chat/openai/embeddings.controller.js';
import { OpenAiController } from './chat/openai/openai.controller.js';
import { ResponsesController } from './chat/responses/responses.controller.js';
import { RuntimeController } from './chat/runtime.controller.js';
import { CompletionsController } from './chat/tenon/completions.controller.js';
import type { Contract, Controller } from './contract.js';
import { DeploymentsController } from './deployments/deployments.controller.js';
import { ModelFilesController } from './deployments/model-files.controller.js';
import { PredictionsController } from './deployments/predictions.controller.js';
import { EvaluationsController } from './jobs/evaluations.controller.js';
import { JobsController } from './jobs/jobs.controller.js';
import { UsageController } from './jobs/usage.controller.js';
import { OperationsController } from './operations/operations.controller.js';
import { CallsController } from './record/calls.controller.js';
import { FeedbackController } from './record/feedback.controller.js';
import { BudgetsController } from './spend/budgets.controller.js';
import { DatasetRecordsController } from './workspace/dataset-records.controller.js';
import { DatasetsController } from './workspace/datasets.controller.js';
import { ModelAliasesController } from './workspace/model-aliases.controller.js';
import { ModelsController } from './workspace/models.controller.js';
import { ProjectsController } from './workspace/projects.controller.js';
import { SearchController } from './workspace/search.controller.js';

/** Lists every controller, in the order of the API reference. The container creates them. */
export const controllers: readonly Newable<Controller>[] = [
  AccountsController,
  TeamController,
  CredentialsController,
  ProjectsController,
  DatasetsController,
  DatasetRecordsController,
  ModelsController,
  ModelAliasesController,
  SearchController,
  RuntimeController,
  CompletionsController,
  ConversationsController,
  OpenAiController,
  TextCompletionsController,
  ResponsesController,
  EmbeddingsController,
  MessagesController,
  CallsController,
  FeedbackController,
  JobsController,
  EvaluationsController,
  UsageController,
  BudgetsController,
  AlertRulesController,
  AlertsController,
  WebhooksController,
  OperationsController,
  AuditController,
  DeploymentsController,
  PredictionsController,
  ModelFilesController,
];

/** Lists the contract of every route. Controllers use services only during a call, so here they get none. */
export const contracts: readonly Contract[] = controllers.flatMap((Controller) =>
  new Controller().routes.map(({ contract }) => contract),
);
