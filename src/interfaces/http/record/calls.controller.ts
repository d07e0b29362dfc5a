import { injectable } from 'inversify';
import { CallService, type CallWithFeedback } from '../../../application/record/call.service.js';
import type { CallFilter } from '../../../application/record/ports.js';
import { ServiceSettings } from '../../../application/shared/ports.js';
import { Job } from '../../../domain/jobs/job.js';
import { answerFrom, hidden, listed } from '../answers.js';
import { type CallOf, type Controller, type Existence, route, type StreamedResponse } from '../contract.js';
import { csvRows, fileAnswer, jsonLines } from '../files.js';
import { boundedPageOf } from '../paging.js';
import { dateOf, seconds } from '../schemas.js';
import * as contracts from './calls.contract.js';
import { feedbackAnswer } from './feedback.controller.js';

@injectable()
export class CallsController implements Controller {
  readonly routes = [
    route(contracts.listCalls, async ({ caller, params, query, memory }) => {
      const wanted = { ...filterOf(params, query), page: boundedPageOf(query), memory };
      const { items, next } = await this.calls.list(caller, wanted);
      return { ...listed('calls', items.map(this.answer)), next_cursor: next };
    }),
    route(contracts.exportCalls, (call) => this.file(call)),
    route(contracts.readCall, async ({ caller, params, memory }) =>
      this.answer(await this.calls.find(caller, { ...callIn(params), memory })),
    ),
    route(contracts.deleteCall, async ({ caller, params }) => ({
      id: await this.calls.remove(caller, callIn(params)),
      deleted: true as const,
    })),
  ];

  readonly exists: Existence<'project_id' | 'call_id'> = {
    project_id: ({ caller, params }) => this.calls.requireProject(caller, { projectId: params.project_id }),
    call_id: ({ caller, params }) => this.calls.require(caller, callIn(params)),
  };

  constructor(
    private readonly calls: CallService,
    private readonly settings: ServiceSettings,
  ) {}

  private async file(call: CallOf<typeof contracts.exportCalls>): Promise<StreamedResponse> {
    const { caller, params, query, memory, signal } = call;
    const { format } = query;
    const parts = await this.calls.export(caller, { ...filterOf(params, query), memory });
    const chunks = format === 'csv' ? csvRows(COLUMNS, parts, this.cells) : jsonLines(this.answers(parts));
    return fileAnswer({ name: `calls-${params.project_id}`, format, chunks, signal });
  }

  private async *answers(parts: AsyncIterable<readonly CallWithFeedback[]>) {
    for await (const part of parts) yield part.map(this.answer);
  }

  private readonly answer = ({ call, feedback }: CallWithFeedback) =>
    answerFrom(contracts.CallAnswer, call, {
      team_id: hidden,
      failure: call.usage?.failure ?? null,
      duration: Job.duration(call),
      currency: this.settings.currency,
      usage: call.usage && {
        tokens_in: call.usage.tokensIn,
        tokens_out: call.usage.tokensOut,
        time_to_first_token: call.usage.firstToken,
      },
      attempts: (call.usage?.attempts ?? []).map(({ modelId, outcome, ms }) => ({ model_id: modelId, outcome, ms })),
      feedback: feedback.map(feedbackAnswer),
    });

  private readonly cells = (one: CallWithFeedback) => {
    const { call } = one;
    const { attempts, feedback } = this.answer(one);
    const { usage, startedAt } = call;
    return [
      ...[call.id, call.answerId, call.projectId, call.kind, call.status, usage?.failure ?? null, call.modelId],
      ...[call.accountId, call.keyId, seconds(call.createdAt), startedAt && seconds(startedAt)],
      ...[seconds(call.finishedAt), Job.duration(call), call.content, asJson(call.request), asJson(call.answer)],
      ...[call.truncated, usage?.tokensIn ?? null, usage?.tokensOut ?? null, usage?.firstToken ?? null],
      ...[call.cost, this.settings.currency, seconds(call.expiresAt), asJson(attempts), asJson(feedback)],
    ];
  };
}

const COLUMNS = [
  ...['id', 'answer_id', 'project_id', 'kind', 'status', 'failure', 'model_id'],
  ...['account_id', 'key_id', 'created_at', 'started_at'],
  ...['finished_at', 'duration', 'content', 'request', 'answer'],
  ...['truncated', 'tokens_in', 'tokens_out', 'time_to_first_token'],
  ...['cost', 'currency', 'expires_at', 'attempts', 'feedback'],
];

const asJson = (side: object | null): string | null => side && JSON.stringify(side);

const callIn = (path: { readonly project_id: string; readonly call_id: string }) => ({
  projectId: path.project_id,
  id: path.call_id,
});

type Filters = Pick<
  CallOf<typeof contracts.listCalls>['query'],
  'since' | 'until' | 'model_id' | 'key_id' | 'account_id' | 'status' | 'score' | 'label' | 'q'
>;

const filterOf = ({ project_id: projectId }: { readonly project_id: string }, query: Filters): CallFilter => ({
  projectId,
  since: query.since === undefined ? null : dateOf(query.since),
  until: query.until === undefined ? null : dateOf(query.until),
  modelId: query.model_id ?? null,
  keyId: query.key_id ?? null,
  accountId: query.account_id ?? null,
  status: query.status ?? null,
  score: query.score ?? null,
  label: query.label ?? null,
  q: query.q ?? null,
});
