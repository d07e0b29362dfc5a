import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { Evaluation, Result } from '../../domain/jobs/evaluation.js';
import { compareScores, type EvaluationComparison } from '../../domain/jobs/evaluation-comparison.js';
import { InvalidRequest, NotFound } from '../../domain/shared/errors.js';
import { type Bounded, boundedPage } from '../shared/bounded-page.js';
import { EvaluationRepository, JobRepository } from './ports.js';

interface Input {
  readonly by: Caller | null;
  readonly id: string;
}

/** What an evaluation found, for the team whose it is. */
@injectable()
export class ReadEvaluation {
  constructor(
    private readonly jobs: JobRepository,
    private readonly evaluations: EvaluationRepository,
  ) {}

  /** Record by record, also while it runs; fewer than asked for where their texts are long. Throws NotFound. */
  async results(
    input: Input & { page: { readonly limit: number; readonly after: number | null } },
  ): Promise<Bounded<Result & { readonly id: string }>> {
    const { jobId } = await this.own(input);
    const { limit, after } = input.page;
    const shown = async (next: { limit: number; after: string | null }) => {
      const page = { limit: next.limit, after: next.after === null ? null : Number(next.after) };
      const results = await this.evaluations.results(jobId, page);
      return results.map((result) => ({ ...result, id: String(result.position) }));
    };
    const first = after === null ? null : String(after);
    return boundedPage({ limit, after: first }, shown, ({ input, expected, output }) => [input, expected, output]);
  }

  /** What has changed since the evaluation `before`, of the same records by the same metric. Throws NotFound, InvalidRequest. */
  async compare({ by, id, before }: Input & { before: string }): Promise<EvaluationComparison> {
    const own = await this.own({ by, id });
    const other = await this.own({ by, id: before });
    const unfit = (message: string) => new InvalidRequest([{ path: 'with', message }]);
    if (own.contentSha256 !== other.contentSha256) throw unfit('must be an evaluation of the same records');
    if (scorerOf(own) !== scorerOf(other)) {
      throw unfit(
        `must be an evaluation by the same metric: it is by ${scorerOf(other)}, this one by ${scorerOf(own)}`,
      );
    }
    const [after, earlier] = [await this.evaluations.scored(id), await this.evaluations.scored(before)];
    const both = after.some(({ position }) => earlier.some((one) => one.position === position));
    if (!both) throw unfit('must be an evaluation that has scored the same records: none has been scored by both');
    return compareScores(earlier, after);
  }

  /** Throws NotFound. */
  async own({ by, id }: Input): Promise<Evaluation> {
    const caller = authorize(by, permissions.readJobs);
    const job = await this.jobs.find(id);
    const isOwn = caller.kind !== 'master' && job?.teamId === caller.teamId;
    const evaluation = isOwn ? await this.evaluations.find(id) : null;
    if (!evaluation) throw new NotFound('evaluation');
    return evaluation;
  }
}

/** By what it is told right from wrong, for people. */
const scorerOf = ({ metric, tolerance }: Evaluation): string =>
  metric === 'numeric' ? `numeric with a tolerance of ${tolerance}` : metric;
