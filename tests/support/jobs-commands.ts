import fc from 'fast-check';
import { type RuleInput, severities } from '../../src/domain/alerts/alert-rule.js';
import { InferenceTimeout } from '../../src/domain/chat/errors.js';
import type { CallKind, FinalStatus } from '../../src/domain/jobs/job.js';
import type { JobsModel } from './jobs-model.js';
import type { JobsRig } from './jobs-rig.js';
import { unlimited } from './records.js';

/** Contains two processes on one store, and their open jobs. */
export interface Real {
  readonly processes: readonly [JobsRig, JobsRig];
  readonly open: string[];
}

type Command = fc.AsyncCommand<JobsModel, Real>;

interface Step {
  readonly model: JobsModel;
  readonly real: Real;
  /** Is the process that acts. */
  readonly process: JobsRig;
}

const by = { kind: 'master' } as const;

/** Makes commands that act on the service and on the model, then compare the two. */
const commandsOf = <Inputs extends unknown[]>(
  name: string,
  inputs: fc.Arbitrary<Inputs>,
  act: (step: Step, ...inputs: Inputs) => Promise<void>,
): fc.Arbitrary<Command> =>
  fc.tuple(inputs, fc.nat(1)).map(([own, where]) => ({
    check: () => true,
    toString: () => `${name}${JSON.stringify(own)}@${where}`,
    run: async (model, real) => {
      await act({ model, real, process: real.processes[where] as JobsRig }, ...own);
      await compare(model, real);
    },
  }));

async function compare(model: JobsModel, { processes: [one], open }: Real): Promise<void> {
  const alerts = await one.allAlerts();
  const seen = alerts.map(({ ruleId, jobId, severity, note }) => ({ ruleId, jobId, severity, note }));
  const sorted = (some: readonly object[]) => some.map((each) => JSON.stringify(each)).sort();
  expect(sorted(seen)).toEqual(sorted(model.alerts));
  expect(alerts.filter(({ ackedAt }) => ackedAt).length).toBe(model.alerts.filter(({ note }) => note !== null).length);
  expect(await one.history()).toEqual(model.history);
  const running = (await one.allJobs()).filter(({ finishedAt }) => !finishedAt);
  expect(running.map(({ id }) => id).sort()).toEqual([...open].sort());
}

/** Adds the newly finished jobs to the model, in the order of the service. */
async function catchUp(model: JobsModel, { processes: [one] }: Real): Promise<void> {
  for (const job of (await one.history()).slice(model.history.length)) model.finish(job);
}

const pick = <T>(some: readonly T[], nth: number): T | undefined => some[nth % Math.max(1, some.length)];

const nth = fc.nat(20);
const end = fc.constantFrom<FinalStatus>('failed', 'failed', 'failed', 'succeeded', 'cancelled');
const jobKind = fc.constantFrom(null, null, 'external' as const, 'chat' as const);
const seconds = fc.constantFrom(0, 1, 2, 5);
const rule: fc.Arbitrary<RuleInput> = fc.oneof(
  fc.record({
    name: fc.constant('in a row'),
    ruleType: fc.constant('consecutive_failures' as const),
    threshold: fc.integer({ min: 1, max: 4 }),
    jobKind,
    severity: fc.constantFrom(null, ...severities),
  }),
  fc.record({
    name: fc.constant('too long'),
    ruleType: fc.constant('job_duration_exceeded' as const),
    threshold: fc.constantFrom(0.5, 1, 2, 4.999),
    jobKind,
  }),
);
const ruleChange = fc.record(
  { enabled: fc.boolean(), threshold: fc.integer({ min: 1, max: 4 }) },
  { requiredKeys: [] },
);

const createRule = commandsOf('createRule', fc.tuple(rule), async ({ model, process }, input) => {
  const { id, ruleType, threshold, jobKind, severity, enabled } = await process.rules.create(by, input);
  model.rules.push({ id, ruleType, threshold, jobKind, severity, enabled });
});

const changeRule = commandsOf('changeRule', fc.tuple(nth, ruleChange), async ({ model, process }, nth, change) => {
  const rule = pick(model.rules, nth);
  if (!rule) return;
  await process.rules.change(by, { id: rule.id, ...change });
  Object.assign(rule, change);
});

const deleteRule = commandsOf('deleteRule', fc.tuple(nth), async ({ model, process }, nth) => {
  const rule = pick(model.rules, nth);
  if (!rule) return;
  await process.rules.delete(by, { id: rule.id });
  model.rules.splice(model.rules.indexOf(rule), 1);
});

const status = fc.constantFrom('queued' as const, 'running' as const, 'running' as const, 'running' as const);
const startJob = commandsOf('startJob', fc.tuple(status), async ({ real, process }, status) => {
  const job = await process.jobService.createExternal(by, { name: 'x', projectId: null, status });
  real.open.push(job.id);
});

const wait = commandsOf('wait', fc.tuple(seconds), async ({ process }, seconds) =>
  process.clock.advance(seconds * 1000),
);

const ends = fc.array(fc.tuple(nth, end), { minLength: 1, maxLength: 6 });
/** Ends some jobs at once, each in one of the processes. */
const finishJobs = commandsOf('finishJobs', fc.tuple(ends), async ({ model, real }, ends) => {
  const chosen = new Map<string, FinalStatus>();
  for (const [nth, status] of ends) {
    const id = pick(real.open, nth);
    if (id) chosen.set(id, status);
  }
  const finished = [...chosen].map(([id, status], index) =>
    (real.processes[index % 2] as JobsRig).jobService.change(by, { id, status }),
  );
  await Promise.all(finished);
  for (const id of chosen.keys()) real.open.splice(real.open.indexOf(id), 1);
  await catchUp(model, real);
});

const kind = fc.constantFrom<CallKind>('chat', 'prediction');
const call = commandsOf('call', fc.tuple(kind, end, seconds), async ({ model, real, process }, kind, end, seconds) => {
  const leaving = new AbortController();
  const about = { by, kind, name: null, projectId: null, modelId: null, signal: leaving.signal };
  const answer = process.tracking.track(about, async (admitted) => {
    admitted();
    process.clock.advance(seconds * 1000);
    if (end === 'cancelled') leaving.abort(new Error('gone'));
    leaving.signal.throwIfAborted();
    if (end === 'failed') throw new InferenceTimeout(1);
  });
  await answer.catch(() => undefined);
  await catchUp(model, real);
});

const note = fc.constantFrom('a', 'b');
const acknowledge = commandsOf('acknowledge', fc.tuple(nth, note), async ({ model, process }, nth, note) => {
  const alert = pick(model.alerts, nth);
  if (!alert) return;
  const all = await process.allAlerts();
  const { id } = all.find(({ ruleId, jobId }) => ruleId === alert.ruleId && jobId === alert.jobId) ?? { id: '' };
  await process.alerts.acknowledge(by, { id, note });
  alert.note ??= note;
});

const preview = commandsOf('preview', fc.tuple(rule), async ({ model, process }, input) => {
  const { alerts } = await process.rules.preview(by, { since: null, memory: unlimited, ...input });
  const { ruleType, threshold, jobKind = null } = input;
  expect(alerts.map(({ jobId }) => jobId)).toEqual(model.preview({ ruleType, threshold, jobKind }));
});

const changes = [createRule, changeRule, deleteRule, acknowledge, preview];
export const jobsCommands = fc.commands([...changes, startJob, startJob, wait, finishJobs, finishJobs, call], {
  size: 'large',
  maxCommands: 30,
});
