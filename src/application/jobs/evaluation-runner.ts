import { injectable } from 'inversify';
import { type ChatRequest, chatLimits } from '../../domain/chat/chat.js';
import { RuntimeLoading, RuntimeUnavailable } from '../../domain/chat/errors.js';
import { JobFinished } from '../../domain/jobs/errors.js';
import { Evaluation, type Result } from '../../domain/jobs/evaluation.js';
import { evaluationRequest } from '../../domain/jobs/evaluation-request.js';
import { type FinalStatus, Job } from '../../domain/jobs/job.js';
import { OwnCall } from '../../domain/jobs/own-call.js';
import { type Score, scoreOf } from '../../domain/jobs/scorer.js';
import { DomainError, type ErrorKind, InvalidRequest } from '../../domain/shared/errors.js';
import { atMost, storable } from '../../domain/shared/text.js';
import type { BudgetExceeded } from '../../domain/spend/budget.js';
import type { KeyLimitReached } from '../../domain/spend/key-limit.js';
import type { DatasetRecord } from '../../domain/workspace/dataset-record.js';
import type { Json, JsonObject } from '../../domain/workspace/json.js';
import { schemaOf } from '../../domain/workspace/spec-format.js';
import { AccountRepository } from '../accounts/ports.js';
import { type OwnChat, OwnChats } from '../chat/own-chats.js';
import { RuntimeReconciler } from '../chat/runtime-reconciler.js';
import { type Attempt, Clock, JsonSchemas, Logger, type TaskWorker, UnitOfWork } from '../shared/ports.js';
import { hasNoRoomYet, nextLook } from '../spend/wait-for-room.js';
import { DatasetRepository } from '../workspace/ports.js';
import { RecordPages } from '../workspace/record-pages.js';
import { JobFinisher } from './job-finisher.js';
import { EvaluationRepository, JobRepository } from './ports.js';

/** The evaluation cannot continue. The message says why. */
class EvaluationFailed extends Error {}

/** Limits the time that a record waits for a model that is busy, loading or unavailable. */
const RETRY_MS = 180_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

/** The kinds of errors that are retried. */
const transient: readonly ErrorKind[] = ['busy', 'bad_gateway', 'unavailable', 'timeout'];

/** The record causes this error, so the evaluation continues with the next record. */
const TOO_LONG = 'context_length_exceeded';

/** The account that asks, its team and key, and the name of the call. */
type Asking = Omit<OwnChat, 'projectId' | 'request'>;

type Answer = Pick<Result, 'output' | 'latency' | 'tokens' | 'error' | 'modelId'>;

/** Chats with the runtime of a project on behalf of an account. Retries with back-off. */
@injectable()
export class EvaluationChat {
  constructor(
    private readonly reconciler: RuntimeReconciler,
    private readonly chats: OwnChats,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /**
   * Returns the model's answer. Throws BudgetExceeded, KeyLimitReached, and EvaluationFailed if there is no answer in time, or if a retry
   * cannot help.
   */
  async ask(evaluation: Evaluation, request: ChatRequest, caller: Asking, signal: AbortSignal): Promise<Answer> {
    if (!request.messages.every(({ content }) => atMost(content, chatLimits.messageLength)))
      return unanswered(`It is longer than the ${chatLimits.messageLength} characters of a message.`);
    const began = this.clock.now().getTime();
    let attempt = 0;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const asking = { ...caller, callId: OwnCall.id(caller.callId, ++attempt) };
      try {
        return await this.once(evaluation, request, asking, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (hasNoRoomYet(error) || !(error instanceof DomainError)) throw error;
        if (error.code === TOO_LONG) return unanswered(error.message);
        const wait = Math.max(pause, 1000 * (error.advice.retryAfterSeconds ?? 0));
        const isFinal = !transient.includes(error.kind) || this.clock.now().getTime() + wait > began + RETRY_MS;
        if (isFinal) throw new EvaluationFailed(`${error.code}: ${error.message}`);
        const fields = { job_id: evaluation.jobId, code: error.code, wait_ms: wait };
        this.log.warn('an evaluation waits for its model', fields);
        await this.clock.pause(wait, signal);
      }
    }
  }

  private async once(evaluation: Evaluation, request: ChatRequest, asking: Asking, signal: AbortSignal) {
    await this.requireReady(evaluation);
    const { projectId } = evaluation;
    const { completion, latency, modelId } = await this.chats.complete({ projectId, request, ...asking }, signal);
    const { text, usage } = completion;
    const tokens = usage && { prompt: usage.promptTokens, completion: usage.completionTokens };
    return { output: storable(text), latency, tokens, error: null, modelId };
  }

  /** Throws RuntimeLoading, RuntimeUnavailable, and EvaluationFailed if the team stopped or replaced the model. */
  private async requireReady({ projectId, modelId }: Evaluation): Promise<void> {
    const { state, reason, ...runtime } = await this.reconciler.state(projectId);
    if (runtime.modelId === null) throw new EvaluationFailed('The model was disconnected from the project.');
    if (runtime.modelId !== modelId) throw new EvaluationFailed(`Another model was connected: ${runtime.modelId}.`);
    if (state === 'stopped') throw new EvaluationFailed('The runtime was stopped.');
    if (state === 'loading') throw new RuntimeLoading();
    if (state === 'unavailable') throw new RuntimeUnavailable(reason ?? 'it does not run');
  }
}

const unanswered = (error: string): Answer => ({ output: null, latency: 0, tokens: null, error, modelId: null });

/** Names the task. The payload of the task has the id of the job. */
export const EVALUATION = 'evaluation';

type End = Parameters<typeof Job.finish>[1];

/** A later run has begun on another instance, or the evaluation is gone. This attempt must change nothing. */
class Superseded extends Error {
  constructor() {
    super('the evaluation goes on elsewhere, or its project was deleted');
  }
}

/**
 * Scores one record after another and stores each result. A retry continues with the first record without a score.
 * Every write checks that no later run has begun. So an instance that hung and was considered dead changes nothing.
 */
@injectable()
export class EvaluationRunner implements TaskWorker {
  /** Limits the teams with a running evaluation. Each team has at most one. */
  readonly atOnce = 8;

  constructor(
    private readonly model: EvaluationChat,
    private readonly schemas: JsonSchemas,
    private readonly evaluations: EvaluationRepository,
    private readonly datasets: DatasetRepository,
    private readonly pages: RecordPages,
    private readonly jobs: JobRepository,
    private readonly accounts: AccountRepository,
    private readonly finisher: JobFinisher,
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  async run(payload: Json, { signal }: Attempt): Promise<void> {
    const id = jobOf(payload);
    const run = await this.evaluations.begin(id);
    try {
      if (run === null) throw new Superseded();
      await this.evaluate(id, run, signal);
    } catch (error) {
      const isGone = (await this.evaluations.find(id)) === null;
      if (isGone) return this.finish(id, null, { status: 'failed', error: 'The project was deleted.' });
      if (hasNoRoomYet(error) && run !== null) return this.waitForRoom(id, run, error);
      if (!(error instanceof EvaluationFailed)) throw error;
      await this.finish(id, run, { status: 'failed', error: error.message });
    }
  }

  /** Leaves the place in the queue to others, and tries again when there may be room. Throws RetryAfter. */
  private async waitForRoom(id: string, run: number, error: BudgetExceeded | KeyLimitReached): Promise<void> {
    const now = this.clock.now();
    const done = (await this.evaluations.scored(id)).length;
    const since = await this.evaluations.wait(id, run, { done, at: now });
    if (since === null) throw new Superseded();
    const again = nextLook(error, { since, now });
    if (!again) return this.finish(id, run, { status: 'failed', error: `${error.code}: ${error.message}` });
    this.log.info('an evaluation waits for a budget', { job_id: id, wait_ms: again.pauseMs });
    throw again;
  }

  async gaveUp(payload: Json, reason: string): Promise<void> {
    const id = jobOf(payload);
    const run = await this.evaluations.begin(id);
    await this.finish(id, run, { status: 'failed', error: `It was given up: ${reason}` });
  }

  private async evaluate(id: string, run: number, signal: AbortSignal): Promise<void> {
    const evaluation = await this.evaluations.find(id);
    const of = evaluation && (await this.datasets.version(evaluation.datasetId, evaluation.datasetVersion));
    if (!of) throw new Superseded();
    const { recordCount: total } = of;
    const kept = new Set((await this.evaluations.scored(id)).map(({ position }) => position));
    this.log.info('job runs', { job_id: id, done: kept.size, total });
    let position = 0;
    while (kept.has(position + 1)) position++;
    for await (const records of this.pages.all(of, position)) {
      for (const record of records) {
        position++;
        if (kept.has(position)) continue;
        const job = await this.advance(id, run, kept.size);
        if (!job) return;
        const { requestedBy: accountId, teamId } = job;
        const { keyId = null } = evaluation;
        const asking = { accountId, teamId: teamId ?? '', keyId, callId: OwnCall.id(id, run, position) };
        const result = await this.result(evaluation, { position, record, asking }, signal);
        if (!(await this.evaluations.keep(id, run, result))) throw new Superseded();
        kept.add(position);
      }
    }
    const scored = await this.evaluations.scored(id);
    if (scored.length < total) throw new Superseded();
    const summary = Evaluation.summary(evaluation, scored);
    await this.finish(id, run, { status: 'succeeded', result: summary as unknown as JsonObject });
  }

  /** Stores the progress. Returns null if the job has ended. */
  private advance(id: string, run: number, done: number): Promise<Job | null> {
    return this.unitOfWork.run(async () => {
      if ((await this.evaluations.latestRun(id)) !== run) throw new Superseded();
      const stored = await this.jobs.find(id);
      if (!stored || Job.isFinished(stored)) return null;
      const account = await this.accounts.byId(stored.requestedBy);
      if (account?.teamId !== stored.teamId) throw new EvaluationFailed('The account that asked for it was removed.');
      const job = Job.advance(stored, done, this.clock.now());
      return (await this.jobs.update(job)) ? job : null;
    });
  }

  private async result(
    evaluation: Evaluation,
    { position, record, asking }: { position: number; record: DatasetRecord; asking: Asking },
    signal: AbortSignal,
  ): Promise<Result> {
    const { id: recordId, group, input, expected } = record;
    const request = requestOf(evaluation, input);
    const answer =
      typeof request === 'string' ? unanswered(request) : await this.model.ask(evaluation, request, asking, signal);
    const score = answer.output === null ? 0 : await this.score(evaluation, answer.output, expected, asking.accountId);
    return { position, recordId, group, input, expected, score, ...answer };
  }

  private async score(evaluation: Evaluation, output: string, expected: Json, caller: string): Promise<Score> {
    const schema = evaluation.metric === 'json_schema' ? schemaOf(evaluation.responseFormat) : null;
    const isValid = schema !== null && (await this.schemas.accepts(schema, output, caller)) === true;
    return scoreOf(evaluation, output, expected, isValid);
  }

  /** Stores the end of the job. `run` is null if the evaluation is gone. */
  private async finish(id: string, run: number | null, end: End & { status: FinalStatus }): Promise<void> {
    const at = this.clock.now();
    try {
      await this.finisher.finish(id, async (stored) => {
        if ((await this.evaluations.latestRun(id)) !== run) throw new Superseded();
        return Job.finish(stored, end, at);
      });
    } catch (error) {
      // The job was cancelled, or its end was stored but the confirmation was lost.
      if (!(error instanceof JobFinished)) throw error;
    }
  }
}

const jobOf = (payload: Json): string => String((payload as JsonObject).job_id);

/** Returns the request for a record, or why there is none. */
function requestOf(evaluation: Evaluation, input: Json): ChatRequest | string {
  try {
    return evaluationRequest(evaluation, input);
  } catch (error) {
    if (error instanceof InvalidRequest) return error.message;
    throw error;
  }
}
