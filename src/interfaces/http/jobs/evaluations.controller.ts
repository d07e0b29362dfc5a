import { injectable } from 'inversify';
import { ReadEvaluation } from '../../../application/jobs/read-evaluation.js';
import type { Result } from '../../../domain/jobs/evaluation.js';
import type { EvaluationComparison } from '../../../domain/jobs/evaluation-comparison.js';
import type { Share } from '../../../domain/jobs/statistics.js';
import { type AnswerOf, type Call, type Controller, route } from '../contract.js';
import { boundedlyPaged } from '../paging.js';
import * as contracts from './evaluations.contract.js';

type OfJob = Pick<Call<'/v1/jobs/{job_id}'>, 'caller' | 'params'>;

@injectable()
export class EvaluationsController implements Controller {
  readonly routes = [
    route(
      contracts.listResults,
      async ({ query: { limit, cursor = null }, ...call }) => {
        const found = await this.read.results({ ...jobOf(call), page: { limit, after: cursor } });
        const { items, ...page } = boundedlyPaged(found);
        return { results: items.map(resultAnswer), ...page };
      },
      (call) => this.read.own(jobOf(call)),
    ),
    route(
      contracts.compareResults,
      async ({ query, ...call }) => {
        const compared = await this.read.compare({ ...jobOf(call), before: query.with });
        return { job_id: call.params.job_id, with: query.with, ...comparisonAnswer(compared) };
      },
      (call) => this.read.own(jobOf(call)),
    ),
  ];

  constructor(private readonly read: ReadEvaluation) {}
}

const jobOf = ({ caller, params }: OfJob) => ({ by: caller, id: params.job_id });

const resultAnswer = ({ recordId, group, input, expected, output, score, latency, tokens, error }: Result) =>
  ({ record_id: recordId, group, input, expected, output, score, latency, tokens, error }) satisfies AnswerOf<
    typeof contracts.listResults
  >['results'][number];

function comparisonAnswer({ groups, right, wrong, ...overall }: EvaluationComparison) {
  const turned = (turns: EvaluationComparison['right']) =>
    turns.map(({ recordId, group }) => ({ record_id: recordId, group }));
  return {
    ...changeAnswer(overall),
    groups: groups.map(({ group, ...change }) => ({ group, ...changeAnswer(change) })),
    right: turned(right),
    wrong: turned(wrong),
  };
}

type Change = Pick<EvaluationComparison, 'before' | 'after' | 'turnedRight' | 'turnedWrong'>;
const changeAnswer = ({ before, after, turnedRight, turnedWrong }: Change) => ({
  before: shareAnswer(before),
  after: shareAnswer(after),
  turned_right: turnedRight,
  turned_wrong: turnedWrong,
});

const shareAnswer = ({ interval, ...share }: Share) => ({ ...share, interval: [...interval] });
