import { injectable } from 'inversify';
import { type ChatRequest, chatLimits } from '../../domain/chat/chat.js';
import { RuntimeLoading, RuntimeUnavailable } from '../../domain/chat/errors.js';
import { JobFinished } from '../../domain/jobs/errors.js';
import { Evaluation, type Result, SAMPLING } from '../../domain/jobs/evaluation.js';
import { type FinalStatus, Job } from '../../domain/jobs/job.js';
import { scoreOf } from '../../domain/jobs/scorer.js';
import { DomainError, type ErrorKind } from '../../domain/shared/errors.js';
import { atMost, storable } from '../../domain/shared/text.js';
import type { DatasetRecord } from '../../domain/workspace/dataset.js';
import { canonical, type Json, type JsonObject } from '../../domain/workspace/json.js';
import { AccountRepository } from '../accounts/ports.js';
import { ChatService } from '../chat/chat.service.js';
import { RuntimeReconciler } from '../chat/runtime-reconciler.js';
import { type Attempt, Clock, Delay, Logger, type TaskWorker } from '../shared/ports.js';
import { DatasetRepository } from '../workspace/ports.js';
import { JobFinisher } from './job-finisher.js';
import { EvaluationRepository, JobRepository } from './ports.js';

/** The evaluation cannot go on. The message says why. */
class EvaluationFailed extends Error {}

/** Limits the wait of a record for a model that is busy, loading or out of order. */
const RETRY_MS = 180_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

/** Errors worth a retry. */
const transient: readonly ErrorKind[] = ['busy', 'bad_gateway', 'unavailable', 'timeout'];

/** The error lies in the record. */
const TOO_LONG = 'context_length_exceeded';

type Answer = Pick<Result, 'output' | 'latency' | 'tokens' | 'error'>;

/** Chats with the runtime of a project on behalf of one of its callers, and retries with back-off. */
@injectable()
export class EvaluationChat {
  constructor(
    private readonly reconciler: RuntimeReconciler,
    private readonly chats: ChatService,
    private readonly pauses: Delay,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Throws EvaluationFailed if there is no answer in time, or can be none. */
  async ask(evaluation: Evaluation, request: ChatRequest, caller: string, signal: AbortSignal): Promise<Answer> {
    if (!request.messages.every(({ content }) => atMost(content, chatLimits.messageLength)))
      return unasked(`It is longer than the ${chatLimits.messageLength} characters of a message.`);
    const until = this.clock.now().getTime() + RETRY_MS;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        return await this.once(evaluation, request, caller, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof DomainError)) throw error;
        if (error.code === TOO_LONG) return unasked(error.message);
        const wait = Math.max(pause, 1000 * (error.advice.retryAfterSeconds ?? 0));
        const hopeless = !transient.includes(error.kind) || this.clock.now().getTime() + wait > until;
        if (hopeless) throw new EvaluationFailed(`${error.code}: ${error.message}`);
        this.log.warn('an evaluation waits for its model', { code: error.code, wait_ms: wait });
        await this.pauses.take(wait, signal);
      }
    }
  }

  private async once(evaluation: Evaluation, request: ChatRequest, accountId: string, signal: AbortSignal) {
    await this.requireReady(evaluation);
    const { projectId } = evaluation;
    const { completion, latency } = await this.chats.completeOwn({ projectId, request, accountId }, signal);
    const { text, usage } = completion;
    const tokens = usage && { prompt: usage.promptTokens, completion: usage.completionTokens };
    return { output: storable(text), latency, tokens, error: null };
  }

  /** Throws a passing error while the runtime is not ready here, and EvaluationFailed when the team changed it. */
  private async requireReady({ projectId, modelId }: Evaluation): Promise<void> {
    const { state, reason, ...runtime } = await this.reconciler.state(projectId);
    if (runtime.modelId === null) throw new EvaluationFailed('The model was disconnected from the project.');
    if (runtime.modelId !== modelId) throw new EvaluationFailed(`Another model was connected: ${runtime.modelId}.`);
    if (state === 'stopped') throw new EvaluationFailed('The runtime was stopped.');
    if (state === 'loading') throw new RuntimeLoading();
    if (state === 'unavailable') throw new RuntimeUnavailable(reason ?? 'it does not run');
  }
}

const unasked = (error: string): Answer => ({ output: null, latency: 0, tokens: null, error });

/** The name of the task; its payload names the job. */
export const EVALUATION = 'evaluation';

type End = Parameters<typeof Job.finish>[1];

/** Scores one record after another and stores each result. A retry goes on with the first record without a score. */
@injectable()
export class EvaluationRunner implements TaskWorker {
  readonly atOnce = 2;

  constructor(
    private readonly model: EvaluationChat,
    private readonly evaluations: EvaluationRepository,
    private readonly datasets: DatasetRepository,
    private readonly jobs: JobRepository,
    private readonly accounts: AccountRepository,
    private readonly finisher: JobFinisher,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  run(payload: Json, { signal }: Attempt): Promise<void> {
    const id = jobOf(payload);
    return this.log.within({ job_id: id }, async () => {
      try {
        await this.evaluate(id, signal);
      } catch (error) {
        if (!(error instanceof EvaluationFailed)) throw error;
        const reason = (await this.evaluations.find(id)) ? error.message : GONE;
        await this.finish(id, { status: 'failed', error: reason });
      }
    });
  }

  async gaveUp(payload: Json, reason: string): Promise<void> {
    await this.finish(jobOf(payload), { status: 'failed', error: `It was given up: ${reason}` });
  }

  private async evaluate(id: string, signal: AbortSignal): Promise<void> {
    const run = await this.evaluations.begin(id);
    const evaluation = run === null ? null : await this.evaluations.find(id);
    const records = evaluation && (await this.datasets.records(evaluation.datasetId, evaluation.datasetVersion));
    if (run === null || !records) throw new EvaluationFailed(GONE);
    const kept = new Set((await this.evaluations.scored(id)).map(({ position }) => position));
    this.log.info('job goes on', { done: kept.size, total: records.length });
    for (const [index, record] of records.entries()) {
      const position = index + 1;
      if (kept.has(position)) continue;
      const job = await this.wanted(id, kept.size);
      if (!job) return;
      const result = await this.result(evaluation, { position, record, caller: job.requestedBy }, signal);
      if (!(await this.evaluations.keep(id, run, result))) return this.superseded(id);
      kept.add(position);
    }
    const scored = await this.evaluations.scored(id);
    if (scored.length < records.length) return this.superseded(id);
    const summary = Evaluation.summary(evaluation, scored);
    await this.finish(id, { status: 'succeeded', result: summary as unknown as JsonObject });
  }

  /** Stores the progress. Returns null if the job has ended. */
  private async wanted(id: string, done: number): Promise<Job | null> {
    const stored = await this.jobs.find(id);
    if (!stored || Job.isFinished(stored)) return null;
    const account = await this.accounts.byId(stored.requestedBy);
    if (account?.teamId !== stored.teamId) throw new EvaluationFailed('The account that asked for it was removed.');
    const job = Job.advance(stored, done, this.clock.now());
    return (await this.jobs.update(job)) ? job : null;
  }

  private async result(
    evaluation: Evaluation,
    { position, record, caller }: { position: number; record: DatasetRecord; caller: string },
    signal: AbortSignal,
  ): Promise<Result> {
    const { id: recordId, group, input, expected } = record;
    const answer = await this.model.ask(evaluation, requestOf(evaluation, input), caller, signal);
    const score = answer.output === null ? 0 : scoreOf(evaluation, answer.output, expected);
    return { position, recordId, group, input, expected, score, ...answer };
  }

  private async superseded(id: string): Promise<void> {
    if ((await this.evaluations.find(id)) === null) throw new EvaluationFailed(GONE);
    this.log.warn('an evaluation goes on elsewhere');
  }

  private async finish(id: string, end: End & { status: FinalStatus }): Promise<void> {
    const at = this.clock.now();
    try {
      await this.finisher.finish(id, (stored) => Job.finish(stored, end, at));
    } catch (error) {
      // The job was cancelled, or its end was stored and the confirmation lost.
      if (!(error instanceof JobFinished)) throw error;
    }
  }
}

const GONE = 'The project was deleted.';

const jobOf = (payload: Json): string => String((payload as JsonObject).job_id);

function requestOf({ systemPrompt }: Evaluation, input: Json): ChatRequest {
  const system = systemPrompt === null ? [] : [{ role: 'system', content: systemPrompt } as const];
  const content = typeof input === 'string' ? input : canonical(input);
  return { messages: [...system, { role: 'user', content }], ...SAMPLING };
}
