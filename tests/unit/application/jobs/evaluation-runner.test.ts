import type { OwnChat, OwnChats, OwnCompletion } from '../../../../src/application/chat/own-chats.js';
import type { RuntimeReconciler } from '../../../../src/application/chat/runtime-reconciler.js';
import { EvaluationChat, EvaluationRunner } from '../../../../src/application/jobs/evaluation-runner.js';
import { RetryAfter } from '../../../../src/application/shared/retry-after.js';
import { RecordPages } from '../../../../src/application/workspace/record-pages.js';
import { ContextLengthExceeded, RuntimeInvalidResponse, RuntimeStopped } from '../../../../src/domain/chat/errors.js';
import type { ProjectRuntime } from '../../../../src/domain/chat/runtime.js';
import { Job } from '../../../../src/domain/jobs/job.js';
import { BudgetExceeded } from '../../../../src/domain/spend/budget.js';
import type { Json } from '../../../../src/domain/workspace/json.js';
import { Sha256ContentHasher } from '../../../../src/infrastructure/crypto/sha256-content-hasher.js';
import { ManualClock } from '../../../fakes/shared/manual-clock.js';
import { MemoryLogger } from '../../../fakes/shared/memory-logger.js';
import { addDataset } from '../../../support/datasets.js';
import { jobsRig } from '../../../support/jobs-rig.js';
import { schemas } from '../../../support/json-schemas.js';
import { postgresUnderTest } from '../../../support/postgres-repositories.js';
import { aDataset, anAccount, anEvaluation, aProject, aRecord, aTeam, at } from '../../../support/records.js';

const store = postgresUnderTest();

type Answer = (call: OwnChat, signal: AbortSignal) => string | Promise<string>;

/** Makes an evaluation of three records with the expected answer `Paris`, and a model with a replaceable answer. */
async function rig(inputs: readonly Json[] = ['question 1', 'question 2', 'question 3']) {
  const repositories = await store.open();
  const clock = new ManualClock(at(0));
  const { finisher } = jobsRig(repositories, store.source, clock);
  const team = aTeam();
  const account = anAccount(team);
  const project = aProject(team);
  const records = inputs.map((input, index) => aRecord({ id: `r${index + 1}`, input }));
  const dataset = aDataset(project, records);
  const evaluation = anEvaluation(project, { datasetId: dataset.id, datasetVersion: 1, systemPrompt: 'Be brief.' });
  const id = evaluation.jobId;
  const owner = { id, teamId: team.id, projectId: project.id, requestedBy: account.id, createdAt: at(0) };
  await repositories.teams.add(team);
  await repositories.accounts.add(account);
  await repositories.projects.add(project);
  await addDataset(repositories, dataset, records);
  const asked = {
    name: null,
    datasetId: dataset.id,
    modelId: evaluation.modelId,
    progress: { done: 0, total: inputs.length },
  };
  await repositories.jobs.add([Job.evaluation({ ...owner, ...asked })]);
  await repositories.evaluations.add(evaluation);

  const calls: OwnChat[] = [];
  const model = {
    answer: (() => 'Paris') as Answer,
    runtime: { state: 'ready', modelId: evaluation.modelId, reason: null } as ProjectRuntime,
  };
  const chats = {
    async complete(call: OwnChat, signal: AbortSignal): Promise<OwnCompletion> {
      calls.push(call);
      const text = await model.answer(call, signal);
      return { completion: { text, finishReason: 'stop', usage: null }, latency: 0.5, modelId: evaluation.modelId };
    },
  } as Partial<OwnChats> as OwnChats;
  const reconciler = { state: async () => model.runtime } as unknown as RuntimeReconciler;
  const log = new MemoryLogger();
  const ask = new EvaluationChat(reconciler, chats, clock, log);
  const { evaluations, datasets, jobs, accounts, unitOfWork } = repositories;
  const worker = new EvaluationRunner(
    ask,
    schemas,
    evaluations,
    datasets,
    new RecordPages(repositories.records, datasets, new Sha256ContentHasher()),
    jobs,
    accounts,
    finisher,
    unitOfWork,
    clock,
    log,
  );
  const run = (signal = new AbortController().signal, number = 1) => worker.run({ job_id: id }, { number, signal });
  const job = async () => (await jobs.find(id)) as Job;
  const positions = async () => (await evaluations.scored(id)).map(({ position }) => position);
  return {
    ...repositories,
    id,
    run,
    job,
    positions,
    worker,
    model,
    calls,
    clock,
    account,
    project,
    evaluation,
  };
}

describe('EvaluationRunner', () => {
  it('sends a list of messages as a chat, and gives a record with an unusable chat an error of its own', async () => {
    const system = { role: 'system', content: 'Answer in one word.' };
    const [hello, hi] = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hi!' },
    ] as const;
    const parts = {
      role: 'user',
      content: [
        { type: 'text', text: 'Capital of ' },
        { type: 'text', text: 'France?' },
      ],
    };
    const image = { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:,' } }] };
    const { run, job, calls, evaluations, id } = await rig([
      [hello, hi, parts],
      [system, hello],
      [hello, { role: 'tool', content: '1' }],
      [image],
      [{ role: 'manager', name: 'Ada' }],
    ]);
    await run();
    const prompt = { role: 'system', content: 'Be brief.' };
    expect(calls.map(({ request }) => request.messages)).toEqual([
      [prompt, hello, hi, { role: 'user', content: 'Capital of France?' }],
      [system, hello],
      [prompt, { role: 'user', content: '[{"name":"Ada","role":"manager"}]' }],
    ]);
    expect((await job()).status).toBe('succeeded');
    const results = await evaluations.results(id, { limit: 9, after: null });
    expect(results.map(({ error }) => error)).toEqual([
      null,
      null,
      'messages[1]: must have one of the roles system, user, assistant in an evaluation',
      'messages[0]: must be text in an evaluation',
      null,
    ]);
  });

  it('stops when its signal is aborted, and continues later with the first record without a score', async () => {
    const { run, job, positions, model, calls } = await rig();
    const ending = new AbortController();
    model.answer = ({ request }, signal) => {
      if (request.messages.at(-1)?.content !== 'question 2' || calls.length > 2) return 'Paris';
      ending.abort(new Error('the process ends'));
      return Promise.reject(signal.reason);
    };
    await expect(run(ending.signal)).rejects.toThrow('the process ends');
    expect(await positions()).toEqual([1]);
    expect((await job()).status).toBe('running');
    await run();
    expect(calls).toHaveLength(4);
    expect(await job()).toMatchObject({ status: 'succeeded', result: { count: 3, right: 3 } });
  });

  it.each<[string, Partial<Record<number, () => string>>]>([
    ['gets an answer', {}],
    [
      'finds the runtime stopped',
      {
        1: () => {
          throw new RuntimeStopped();
        },
      },
    ],
    ['gets the last answer', { 3: () => 'Paris' }],
  ])('writes nothing if another instance has taken over the evaluation when this instance %s', async (_, answers) => {
    const { run, job, positions, model, evaluations, id, calls } = await rig();
    const at = Number(Object.keys(answers)[0] ?? 1);
    model.answer = async () => {
      if (calls.length < at) return 'Paris';
      await evaluations.begin(id);
      return answers[at]?.() ?? 'Paris';
    };
    const before = Array.from({ length: at - 1 }, (_, nth) => nth + 1);
    await expect(run()).rejects.toThrow('goes on elsewhere');
    expect(await positions()).toEqual(before);
    expect(await job()).toMatchObject({ status: 'running', progress: { done: before.length } });
  });

  it('retries an answer for a limited time, and then fails with the reason', async () => {
    const { run, job, model, positions, calls } = await rig();
    model.answer = ({ request }) => {
      if (request.messages.at(-1)?.content === 'question 2') throw new RuntimeInvalidResponse('gibberish');
      return 'Paris';
    };
    await run();
    expect(await job()).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^runtime_invalid_response: /),
    });
    expect(await positions()).toEqual([1]);
    expect(calls.length).toBeLessThan(25);
  });

  it('counts a record that is too long for the model as wrong, with the reason', async () => {
    const { run, job, model, evaluations, id } = await rig();
    model.answer = ({ request }) => {
      if (request.messages.at(-1)?.content === 'question 1') throw new ContextLengthExceeded('too long');
      return 'Paris';
    };
    await run();
    expect(await job()).toMatchObject({ status: 'succeeded', result: { right: 2, errors: 1 } });
    const [first] = await evaluations.results(id, { limit: 1, after: null });
    expect(first).toMatchObject({ output: null, score: 0, error: 'too long' });
  });

  type Rig = Awaited<ReturnType<typeof rig>>;
  it.each<[string, (rig: Rig) => unknown, string]>([
    [
      'the account',
      ({ accounts, account }) => accounts.remove(account.id),
      'The account that asked for it was removed.',
    ],
    ['the project', ({ projects, project }) => projects.remove(project), 'The project was deleted.'],
    [
      'the connection',
      ({ model }) => Object.assign(model, { runtime: { ...model.runtime, modelId: null, state: 'not_connected' } }),
      'The model was disconnected from the project.',
    ],
    [
      'the model',
      ({ model }) => Object.assign(model, { runtime: { ...model.runtime, modelId: 'mdl_2' } }),
      'Another model was connected: mdl_2.',
    ],
    [
      'the runtime',
      ({ model }) => Object.assign(model, { runtime: { ...model.runtime, state: 'stopped' } }),
      'The runtime was stopped.',
    ],
  ])('fails with a reason when %s goes away meanwhile', async (_, takeAway, reason) => {
    const parts = await rig();
    parts.model.answer = async () => {
      if (parts.calls.length === 2) await takeAway(parts);
      return 'Paris';
    };
    await parts.run();
    expect(await parts.job()).toMatchObject({ status: 'failed', error: reason, result: null });
    expect(parts.calls).toHaveLength(2);
  });

  it('fails if the project is removed after all records have a score', async () => {
    const { run, job, evaluations, projects, project } = await rig();
    const scored = evaluations.scored.bind(evaluations);
    let looks = 0;
    evaluations.scored = async (id) => {
      if (++looks === 2) await projects.remove(project);
      return scored(id);
    };
    await run();
    expect(await job()).toMatchObject({ status: 'failed', error: 'The project was deleted.', result: null });
  });

  it('fails for good when it is given up', async () => {
    const { worker, job, id } = await rig();
    await worker.gaveUp({ job_id: id }, 'its process died');
    await worker.gaveUp({ job_id: id }, 'its process died');
    expect(await job()).toMatchObject({ status: 'failed', error: 'It was given up: its process died' });
  });

  it('leaves its place while a budget has no room, continues then, and fails after a day', async () => {
    const { run, job, calls, clock, model, positions } = await rig();
    const about = { id: 'bud_1', scope: 'team', unit: 'calls', period: 'day' } as const;
    let hasRoom = true;
    model.answer = () => {
      if (!hasRoom) throw new BudgetExceeded(about, clock.now());
      hasRoom = false;
      return 'Paris';
    };
    await expect(run()).rejects.toMatchObject({ counts: false, pauseMs: 60_000 });
    clock.advance(23 * 3_600_000);
    await expect(run()).rejects.toBeInstanceOf(RetryAfter);
    hasRoom = true;
    await expect(run()).rejects.toBeInstanceOf(RetryAfter); // the next record waits a day of its own
    expect([await positions(), (await job()).status]).toEqual([[1, 2], 'running']);
    clock.advance(23 * 3_600_000);
    await expect(run()).rejects.toBeInstanceOf(RetryAfter);
    clock.advance(3_600_000);
    await run();
    expect(await job()).toMatchObject({ status: 'failed', error: expect.stringMatching(/^budget_exceeded: .*bud_1/) });
    expect(new Set(calls.map(({ callId }) => callId)).size).toBe(calls.length);
  });
});
