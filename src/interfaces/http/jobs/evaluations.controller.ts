import { injectable } from 'inversify';
import { EvaluationService } from '../../../application/jobs/evaluation.service.js';
import type { Result, Share } from '../../../domain/jobs/evaluation.js';
import type { EvaluationComparison } from '../../../domain/jobs/evaluation-comparison.js';
import { answerFrom, hidden, paged } from '../answers.js';
import { type Controller, type Existence, route } from '../contract.js';
import { csvRows, fileAnswer, jsonLines } from '../files.js';
import * as contracts from './evaluations.contract.js';

@injectable()
export class EvaluationsController implements Controller {
  readonly routes = [
    route(contracts.listResults, async ({ caller, params, query: { limit, cursor = null }, memory }) => {
      const input = { id: params.job_id, page: { limit, after: cursor }, memory };
      const { items, more } = await this.evaluations.results(caller, input);
      const numbered = items.map((result) => ({ ...result, id: String(result.position) }));
      return paged('results', { items: numbered, more }, ({ id: _, ...result }) => resultAnswer(result));
    }),
    route(contracts.exportResults, async ({ caller, params: { job_id }, query: { format }, memory, signal }) => {
      const results = await this.evaluations.export(caller, { id: job_id, memory });
      const chunks = format === 'csv' ? csvRows(COLUMNS, results, cellsOf) : jsonLines(answersOf(results));
      return fileAnswer({ name: `results-${job_id}`, format, chunks, signal });
    }),
    route(contracts.compareResults, async ({ caller, params, query }) => {
      const compared = await this.evaluations.compare(caller, { id: params.job_id, before: query.with });
      return { job_id: params.job_id, with: query.with, ...comparisonAnswer(compared) };
    }),
  ];

  readonly exists: Existence<'job_id'> = {
    job_id: ({ caller, params }) => this.evaluations.find(caller, { id: params.job_id }),
  };

  constructor(private readonly evaluations: EvaluationService) {}
}

const resultAnswer = (result: Result) =>
  answerFrom(contracts.listResults.answer.shape.results.element, result, { position: hidden });

async function* answersOf(parts: AsyncIterable<readonly Result[]>) {
  for await (const part of parts) yield part.map(resultAnswer);
}

const COLUMNS = [
  ...['record_id', 'group', 'input', 'expected', 'output', 'score', 'latency'],
  ...['prompt_tokens', 'completion_tokens', 'error', 'model_id'],
];

const cellsOf = ({ recordId, group, input, expected, output, score, latency, tokens, error, modelId }: Result) => [
  ...[recordId, group, input, expected, output, score, latency],
  ...[tokens?.prompt ?? null, tokens?.completion ?? null, error, modelId],
];

function comparisonAnswer({ groups, right, wrong, changed, latency, tokens, ...overall }: EvaluationComparison) {
  const turned = (turns: EvaluationComparison['right']) =>
    turns.map(({ recordId, group }) => ({ record_id: recordId, group }));
  return {
    ...changeAnswer(overall),
    groups: groups.map(({ group, ...change }) => ({ group, ...changeAnswer(change) })),
    right: turned(right),
    wrong: turned(wrong),
    changed: turned(changed),
    latency,
    tokens,
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
