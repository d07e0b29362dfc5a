import { shareOf } from '../../../src/domain/jobs/evaluation.js';
import type { Metric } from '../../../src/domain/jobs/scorer.js';
import type { DatasetRecord } from '../../../src/domain/workspace/dataset-record.js';
import type { JsonObject } from '../../../src/domain/workspace/json.js';
import { Project } from '../../../src/domain/workspace/project.js';
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
  const dataset = (over: Partial<ReviewedDataset> = {}): ReviewedDataset => ({
    id: 'dst_1',
    name: 'Numbers',
    state: 'frozen',
    valid: true,
    records,
    ...over,
  });
  const good: JsonObject = {
    goal: 'Know the numbers',
    task: 'chat',
    system_prompt: 'Be brief.',
    acceptance: { metric: 'normalized', threshold: 0.9 },
    dataset_id: 'dst_1',
  };
  /** An evaluation of all that is there now, whatever its metric. */
  const passed = ({ acceptance, system_prompt }: JsonObject): Reviewed['evaluation'] => ({
    jobId: 'job_1',
    modelId: 'mdl_1',
    systemPrompt: (system_prompt ?? null) as string | null,
    metric: (acceptance as JsonObject | undefined)?.metric as Metric,
    tolerance: 0,
    share: shareOf(100, 100),
  });
  const reviewed = (spec: JsonObject = good, over: Partial<Reviewed> = {}): Reviewed => ({
    project: Project.create({ id: 'prj_1', teamId: 'tea_1', createdBy: 'usr_1', createdAt: new Date(0), spec }),
    models: [{ id: 'mdl_1', state: 'registered' }],
    dataset: dataset(),
    runtime: { state: 'ready', modelId: 'mdl_1', reason: null },
    evaluation: passed(spec),
    ...over,
  });
  const found = (given: Reviewed) =>
    review(given)
      .findings.filter(({ code }) => code !== 'acceptance_met')
      .map(({ level, code, path }) => `${level} ${code} ${path}`);
  const without = (...names: string[]) =>
    Object.fromEntries(Object.entries(good).filter(([name]) => !names.includes(name)));

  it('finds nothing in a project that has all, and says what to do with it', () => {
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

  it('names all that is missing in an empty project, what blocks first, and a step for each', () => {
    const empty = reviewed(
      {},
      { models: [], dataset: null, runtime: { state: 'not_connected', modelId: null, reason: null } },
    );
    expect(review(empty).ready).toBe(false);
    expect(found(empty)).toEqual([
      'blocking goal_missing spec.goal',
      'warning acceptance_missing spec.acceptance',
      'warning dataset_missing spec.dataset_id',
      'warning model_missing models',
      'info task_missing spec.task',
      'info system_prompt_missing spec.system_prompt',
    ]);
    const { nextSteps } = review(empty);
    expect(nextSteps).toHaveLength(4);
    for (const step of nextSteps) expect(step).toMatch(/(PUT|POST) \/v1\/projects\/prj_1/);
  });

  it('takes blank text for missing', () => {
    const blank = { ...good, goal: ' \n', task: '', system_prompt: null, dataset_id: ' ' };
    expect(found(reviewed(blank, { dataset: null }))).toEqual([
      'blocking goal_missing spec.goal',
      'warning dataset_missing spec.dataset_id',
      'info task_missing spec.task',
      'info system_prompt_missing spec.system_prompt',
    ]);
  });

  it.each<[string, JsonObject, string[]]>([
    ['no threshold', { metric: 'exact' }, ['blocking acceptance_threshold_missing spec.acceptance.threshold']],
    [
      'percents',
      { metric: 'exact', threshold: 90 },
      ['blocking acceptance_threshold_out_of_range spec.acceptance.threshold'],
    ],
    [
      'less than nothing',
      { metric: 'exact', threshold: -0.1 },
      ['blocking acceptance_threshold_out_of_range spec.acceptance.threshold'],
    ],
    ['nothing', { metric: 'exact', threshold: 0 }, ['warning acceptance_always_met spec.acceptance.threshold']],
    ['no metric', { threshold: 1 }, ['warning acceptance_metric_missing spec.acceptance.metric']],
    [
      'a metric that nobody measures',
      { metric: 'bleu', threshold: 1 },
      ['warning acceptance_metric_unknown spec.acceptance.metric'],
    ],
    ['numbers', { metric: 'numeric', threshold: 1 }, []],
  ])('judges an acceptance with %s', (_, acceptance, expected) => {
    expect(found(reviewed({ ...good, acceptance }))).toEqual(expected);
  });

  it('sees that a metric does not fit what is expected', () => {
    const spec = { ...good, acceptance: { metric: 'numeric', threshold: 0.9 } };
    const words = dataset({ records: [...records, record(20, { expected: 'twenty' })] });
    const { findings } = review(reviewed(spec, { dataset: words }));
    expect(findings).toMatchObject([
      { code: 'acceptance_metric_unfit', message: expect.stringContaining('"r20"') },
      { code: 'acceptance_met' },
    ]);
  });

  it.each<[string, ReviewedDataset | null, string[]]>([
    ['that is not there', null, ['blocking dataset_unknown spec.dataset_id']],
    [
      'that does not validate',
      dataset({ valid: false, state: 'editable' }),
      ['blocking dataset_invalid spec.dataset_id'],
    ],
    ['that can change', dataset({ state: 'editable' }), ['warning dataset_editable spec.dataset_id']],
    ['with few records', dataset({ records: records.slice(0, 4) }), ['info records_few spec.dataset_id']],
    [
      'with two answers to one question',
      dataset({ records: [...records, record(3, { id: 'again', expected: 'III' })] }),
      ['warning records_contradict spec.dataset_id'],
    ],
    [
      'with a question twice',
      dataset({ records: [...records, record(3, { id: 'again' })] }),
      ['info records_repeat spec.dataset_id'],
    ],
    [
      'with a group of one',
      dataset({ records: [...records, record(99, { group: 'lonely' })] }),
      ['info groups_small spec.dataset_id'],
    ],
  ])('judges a dataset %s', (_, given, expected) => {
    expect(found(reviewed(good, { dataset: given }))).toEqual(expected);
  });

  it('compares inputs whatever the order of their keys', () => {
    const twins = [record(1, { input: { a: 1, b: 2 } }), record(2, { input: { b: 2, a: 1 } })];
    const { findings } = review(reviewed(good, { dataset: dataset({ records: [...records.slice(3), ...twins] }) }));
    expect(findings).toMatchObject([
      { code: 'records_contradict', message: expect.stringContaining('"r1" and "r2"') },
      { code: 'records_few' },
      { code: 'acceptance_met' },
    ]);
  });

  it('names some of very many', () => {
    const same = records.flatMap((one) => [one, { ...one, id: `${one.id} again` }]);
    const { findings } = review(reviewed(good, { dataset: dataset({ records: same }) }));
    expect(findings[0]?.message).toMatch(/and 15 more\.$/);
  });

  it('points to the dataset of the starter that the project came from', () => {
    const spec = { ...without('dataset_id'), starter_id: 'capital-cities' };
    expect(review(reviewed(spec, { dataset: null })).nextSteps[0]).toContain('{ "starter_id": "capital-cities" }');
  });

  it.each<[string, Partial<Reviewed>, string[]]>([
    [
      'no model',
      { models: [], runtime: { state: 'not_connected', modelId: null, reason: null } },
      ['warning model_missing models'],
    ],
    [
      'drafts alone',
      { models: [{ id: 'mdl_2', state: 'draft' }], runtime: { state: 'not_connected', modelId: null, reason: null } },
      ['warning model_unregistered models'],
    ],
    [
      'nothing connected',
      { runtime: { state: 'not_connected', modelId: null, reason: null } },
      ['warning runtime_not_connected runtime'],
    ],
    [
      'a stopped runtime',
      { runtime: { state: 'stopped', modelId: 'mdl_1', reason: null } },
      ['warning runtime_stopped runtime'],
    ],
    ['a loading runtime', { runtime: { state: 'loading', modelId: 'mdl_1', reason: null } }, []],
    [
      'a broken runtime',
      { runtime: { state: 'unavailable', modelId: 'mdl_1', reason: 'no tokenizer.' } },
      ['warning runtime_unavailable runtime'],
    ],
  ])('judges %s', (_, over, expected) => {
    expect(found(reviewed(good, over))).toEqual(expected);
  });

  it('gives the same review of the same project', () => {
    const once = JSON.stringify(review(reviewed({}, { dataset: null })));
    expect(JSON.stringify(review(reviewed({}, { dataset: null })))).toBe(once);
  });

  const measured = (over: Partial<NonNullable<Reviewed['evaluation']>>) =>
    reviewed(good, { evaluation: { ...passed(good), ...over } as Reviewed['evaluation'] });
  it.each<[string, Reviewed, string[]]>([
    ['none', reviewed(good, { evaluation: null }), ['info evaluation_missing spec.acceptance.threshold']],
    ['one of another model', measured({ modelId: 'mdl_0' }), ['warning evaluation_outdated spec.acceptance.threshold']],
    [
      'one with another prompt',
      measured({ systemPrompt: null }),
      ['warning evaluation_outdated spec.acceptance.threshold'],
    ],
    ['one by another metric', measured({ metric: 'exact' }), ['warning evaluation_outdated spec.acceptance.threshold']],
    [
      'too low a score',
      measured({ share: shareOf(89, 100) }),
      ['blocking acceptance_not_met spec.acceptance.threshold'],
    ],
    ['just enough', measured({ share: shareOf(90, 100) }), []],
    ['none, and no frozen dataset', reviewed(good, { evaluation: null, dataset: dataset({ state: 'editable' }) }), []],
  ])('looks at the last evaluation: %s', (_, given, expected) => {
    const own = found(given).filter((finding) => /evaluation_|acceptance_/.test(finding));
    expect(own).toEqual(expected);
    expect(review(given).ready).toBe(!expected.some((finding) => finding.startsWith('blocking')));
    if (expected.length > 0) expect(review(given).nextSteps[0]).toMatch(/\/v1\/jobs/);
  });

  it('says where a score may be chance', () => {
    const messages = (right: number) =>
      review(measured({ share: shareOf(right, 20) })).findings.map((one) => one.message);
    for (const right of [17, 19]) expect(messages(right).join()).toContain('may be chance');
  });
});
