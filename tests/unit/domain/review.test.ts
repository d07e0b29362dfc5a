import { shareOf } from '../../../src/domain/jobs/evaluation.js';
import type { Metric } from '../../../src/domain/jobs/scorer.js';
import type { DatasetRecord } from '../../../src/domain/workspace/dataset-record.js';
import type { JsonObject } from '../../../src/domain/workspace/json.js';
import { Project } from '../../../src/domain/workspace/project.js';
import { RecordSurvey } from '../../../src/domain/workspace/record-survey.js';
import { review } from '../../../src/domain/workspace/review.js';
import type { Reviewed, ReviewedDataset } from '../../../src/domain/workspace/review-finding.js';

describe('the review of a project', () => {
  const record = (n: number, over: Partial<DatasetRecord> = {}): DatasetRecord => ({
    id: `r${n}`,
    group: 'a',
    input: `What is ${n}?`,
    expected: `${n}`,
    fields: {},
    ...over,
  });
  const records = Array.from({ length: 20 }, (_, n) => record(n));
  const surveyOf = (all: readonly DatasetRecord[]) => {
    const survey = new RecordSurvey();
    survey.add(all);
    return survey;
  };
  const dataset = (over: Partial<ReviewedDataset> = {}): ReviewedDataset => ({
    id: 'dst_1',
    name: 'Numbers',
    state: 'frozen',
    valid: true,
    survey: surveyOf(records),
    ...over,
  });
  const good: JsonObject = {
    goal: 'Know the numbers',
    task: 'chat',
    system_prompt: 'Be brief.',
    acceptance: { metric: 'normalized', threshold: 0.9 },
    dataset_id: 'dst_1',
  };
  /** Makes a fitting evaluation in which every record was right. */
  const passed = ({ acceptance, system_prompt }: JsonObject): Reviewed['evaluation'] => ({
    jobId: 'job_1',
    modelId: 'mdl_1',
    systemPrompt: (system_prompt ?? null) as string | null,
    metric: (acceptance as JsonObject | undefined)?.metric as Metric,
    tolerance: 0,
    share: shareOf(100, 100),
  });
  const idle: Reviewed['runtime'] = { state: 'not_connected', modelId: null, reason: null };
  const reviewed = (spec: JsonObject = good, over: Partial<Reviewed> = {}): Reviewed => ({
    project: Project.create({ id: 'prj_1', teamId: 'tea_1', createdBy: 'usr_1', createdAt: new Date(0), spec }),
    models: [{ id: 'mdl_1', state: 'registered' }],
    dataset: dataset(),
    runtime: { state: 'ready', modelId: 'mdl_1', reason: null },
    unpriced: null,
    schemaProblem: null,
    evaluation: passed(spec),
    ...over,
  });
  const found = (project: Reviewed) =>
    review(project)
      .findings.filter(({ code }) => code !== 'acceptance_met')
      .map(({ level, code }) => `${level} ${code}`);
  const without = (...names: string[]) =>
    Object.fromEntries(Object.entries(good).filter(([name]) => !names.includes(name)));

  it('finds nothing wrong with a complete project, and names the next step', () => {
    expect(review(reviewed())).toEqual({
      projectId: 'prj_1',
      version: 1,
      ready: true,
      findings: [
        {
          level: 'info',
          code: 'acceptance_met',
          path: 'spec.acceptance.threshold',
          message: 'The threshold is 0.9, and 100 of 100 records were right: 1, or 0.963 to 1 with 95 % certainty.',
        },
      ],
      nextSteps: ['Chat with the model: POST /v1/projects/prj_1/chat/completions.'],
    });
  });

  it('names everything that is missing in an empty project, blocking findings first, with steps', () => {
    const empty = reviewed({}, { models: [], dataset: null, runtime: idle });
    expect(review(empty).ready).toBe(false);
    expect(found(empty)).toEqual([
      'blocking goal_missing',
      'warning acceptance_missing',
      'warning dataset_missing',
      'warning model_missing',
      'info task_missing',
      'info system_prompt_missing',
    ]);
    const paths = review(empty).findings.map(({ path }) => path.replace('spec.', ''));
    expect(paths).toEqual(['goal', 'acceptance', 'dataset_id', 'models', 'task', 'system_prompt']);
    const { nextSteps } = review(empty);
    expect(nextSteps).toHaveLength(4);
    for (const step of nextSteps) expect(step).toMatch(/(PUT|POST) \/v1\/projects\/prj_1/);
  });

  it.each<[string, JsonObject, string[]]>([
    ['no threshold', { metric: 'exact' }, ['blocking acceptance_threshold_missing']],
    ['a threshold in percent', { metric: 'exact', threshold: 90 }, ['blocking acceptance_threshold_out_of_range']],
    ['a threshold below 0', { metric: 'exact', threshold: -0.1 }, ['blocking acceptance_threshold_out_of_range']],
    ['the threshold 0', { metric: 'exact', threshold: 0 }, ['warning acceptance_always_met']],
    ['no metric', { threshold: 1 }, ['warning acceptance_metric_missing']],
    ['an unknown metric', { metric: 'bleu', threshold: 1 }, ['warning acceptance_metric_unknown']],
    ['the metric of numbers', { metric: 'numeric', threshold: 1 }, []],
  ])('judges an acceptance with %s', (_, acceptance, expected) => {
    expect(found(reviewed({ ...good, acceptance }))).toEqual(expected);
  });

  const answers = (schema: JsonObject) => ({ type: 'json_schema', json_schema: { name: 'answer', schema } });
  const closed = { type: 'object', properties: { city: {} }, additionalProperties: false };
  it.each<[string, JsonObject, JsonObject | null, string[]]>([
    ['json_schema without a schema', { metric: 'json_schema' }, null, ['acceptance_metric_unfit']],
    ['json_schema without a schema', { metric: 'json_schema' }, { type: 'json_object' }, ['acceptance_metric_unfit']],
    ['json_schema with a schema', { metric: 'json_schema' }, answers({}), []],
    ['json_schema and a field', { metric: 'json_schema', field: 'a' }, answers({}), ['acceptance_field_unused']],
    ['a field of any text', { metric: 'exact', field: 'a' }, { type: 'text' }, ['acceptance_field_unfit']],
    ['a field that no answer has', { metric: 'exact', field: 'town.x' }, answers(closed), ['acceptance_field_unfit']],
    ['a field of the schema', { metric: 'exact', field: 'city.x' }, answers(closed), []],
    ['a field of any object', { metric: 'exact', field: 'town' }, { type: 'json_object' }, []],
  ])('judges the combination of metric, field and format: %s', (_, acceptance, response_format, codes) => {
    const spec = { ...good, response_format, acceptance: { threshold: 1, ...acceptance } };
    expect(found(reviewed(spec, { evaluation: null, runtime: idle, models: [] })).slice(0, -1)).toEqual(
      codes.map((code) => `warning ${code}`),
    );
  });

  it('warns of a model without prices under a budget for costs', () => {
    const project = reviewed(good, { unpriced: 'mdl_1' });
    expect(review(project)).toMatchObject({
      ready: true,
      findings: [{ code: 'model_unpriced', level: 'warning' }, {}],
    });
  });

  it('reports a response schema that cannot be used as blocking', () => {
    const spec = { ...good, response_format: answers({ type: 'text' }) };
    const project = reviewed(spec, { schemaProblem: 'type must be known', evaluation: null });
    expect(review(project)).toMatchObject({
      ready: false,
      findings: [{ code: 'response_format_invalid', message: expect.stringContaining('type must be known') }, {}],
    });
  });

  it('finds a metric that does not fit the expected answers', () => {
    const spec = { ...good, acceptance: { metric: 'numeric', threshold: 0.9 } };
    const words = dataset({ survey: surveyOf([...records, record(20, { expected: 'twenty' })]) });
    const { findings } = review(reviewed(spec, { dataset: words }));
    expect(findings).toMatchObject([
      { code: 'acceptance_metric_unfit', message: expect.stringContaining('"r20"') },
      { code: 'acceptance_met' },
    ]);
  });

  it.each<[string, ReviewedDataset | null, string[]]>([
    ['that does not exist', null, ['blocking dataset_unknown']],
    ['that does not validate', dataset({ valid: false, state: 'editable' }), ['blocking dataset_invalid']],
    ['that can change', dataset({ state: 'editable' }), ['warning dataset_editable']],
    ['with few records', dataset({ survey: surveyOf(records.slice(0, 4)) }), ['info records_few']],
    [
      'with two answers to one question',
      dataset({ survey: surveyOf([...records, record(3, { id: 'again', expected: 'III' })]) }),
      ['warning records_contradict'],
    ],
    [
      'with a repeated question',
      dataset({ survey: surveyOf([...records, record(3, { id: 'again' })]) }),
      ['info records_repeat'],
    ],
    [
      'with a group of one record',
      dataset({ survey: surveyOf([...records, record(99, { group: 'lonely' })]) }),
      ['info groups_small'],
    ],
  ])('judges a dataset %s', (_, dataset, expected) => {
    expect(found(reviewed(good, { dataset }))).toEqual(expected);
  });

  it('names the dataset of the project’s starter', () => {
    const spec = { ...without('dataset_id'), starter_id: 'capital-cities' };
    expect(review(reviewed(spec, { dataset: null })).nextSteps[0]).toContain('{ "starter_id": "capital-cities" }');
  });

  it.each<[string, Partial<Reviewed>, string[]]>([
    ['no model', { models: [], runtime: idle }, ['warning model_missing']],
    ['only drafts', { models: [{ id: 'mdl_2', state: 'draft' }], runtime: idle }, ['warning model_unregistered']],
    ['no connected model', { runtime: idle }, ['warning runtime_not_connected']],
    [
      'a stopped runtime',
      { runtime: { state: 'stopped', modelId: 'mdl_1', reason: null } },
      ['warning runtime_stopped'],
    ],
    ['a loading runtime', { runtime: { state: 'loading', modelId: 'mdl_1', reason: null } }, []],
    [
      'a broken runtime',
      { runtime: { state: 'unavailable', modelId: 'mdl_1', reason: 'no tokenizer.' } },
      ['warning runtime_unavailable'],
    ],
  ])('judges %s', (_, over, expected) => {
    expect(found(reviewed(good, over))).toEqual(expected);
  });

  const measured = (over: Partial<NonNullable<Reviewed['evaluation']>>) =>
    reviewed(good, { evaluation: { ...passed(good), ...over } as Reviewed['evaluation'] });
  it.each<[string, Reviewed, string[]]>([
    ['none', reviewed(good, { evaluation: null }), ['info evaluation_missing']],
    ['one of another model', measured({ modelId: 'mdl_0' }), ['warning evaluation_outdated']],
    ['one with another prompt', measured({ systemPrompt: null }), ['warning evaluation_outdated']],
    ['one by another metric', measured({ metric: 'exact' }), ['warning evaluation_outdated']],
    ['one by a field', measured({ field: 'city' }), ['warning evaluation_outdated']],
    ['one with a format', measured({ responseFormat: { type: 'json_object' } }), ['warning evaluation_outdated']],
    ['too low a score', measured({ share: shareOf(89, 100) }), ['blocking acceptance_not_met']],
    ['a score equal to the threshold', measured({ share: shareOf(90, 100) }), []],
    ['none, and no frozen dataset', reviewed(good, { evaluation: null, dataset: dataset({ state: 'editable' }) }), []],
  ])('judges the last evaluation: %s', (_, project, expected) => {
    const own = found(project).filter((finding) => /evaluation_|acceptance_/.test(finding));
    expect(own).toEqual(expected);
    expect(review(project).ready).toBe(!expected.some((finding) => finding.startsWith('blocking')));
    if (expected.length > 0) expect(review(project).nextSteps[0]).toMatch(/\/v1\/jobs/);
  });

  it('says that a score may be chance', () => {
    const messages = (right: number) =>
      review(measured({ share: shareOf(right, 20) })).findings.map((one) => one.message);
    for (const right of [17, 19]) expect(messages(right).join()).toContain('may be chance');
  });
});
