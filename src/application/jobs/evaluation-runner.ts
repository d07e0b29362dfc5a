import { injectable } from 'inversify';
import type { ChatRequest } from '../../domain/chat/chat.js';
import { JobFinished } from '../../domain/jobs/errors.js';
import { ASKED, Evaluation, type Result } from '../../domain/jobs/evaluation.js';
import { type FinalStatus, Job } from '../../domain/jobs/job.js';
import { scoreOf } from '../../domain/jobs/scorer.js';
import type { DatasetRecord } from '../../domain/workspace/dataset-record.js';
import { canonical, type Json, type JsonObject } from '../../domain/workspace/json.js';
import { AccountRepository } from '../accounts/ports.js';
import { type Attempt, Clock, Logger, type TaskWorker } from '../shared/ports.js';
import { DatasetRepository } from '../workspace/ports.js';
import { EvaluationChat, EvaluationFailed } from './evaluation-chat.js';
import { JobFinisher } from './job-finisher.js';
import { EvaluationRepository, JobRepository } from './ports.js';

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
  return { messages: [...system, { role: 'user', content }], ...ASKED };
}
