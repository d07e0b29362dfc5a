import fc from 'fast-check';
import { type RuleInput, severities } from '../../src/domain/alerts/alert-rule.js';
import { InferenceTimeout } from '../../src/domain/chat/errors.js';
import type { CallKind, FinalStatus } from '../../src/domain/jobs/job.js';
import type { JobsModel } from './jobs-model.js';
import type { JobsRig } from './jobs-rig.js';

/** Two processes on one store, and what is under way in them. */
export interface Real {
  readonly processes: readonly [JobsRig, JobsRig];
  readonly open: string[];
}

type Command = fc.AsyncCommand<JobsModel, Real>;
const by = { kind: 'master' } as const;

/** Does something to the service, then the same to the model, then compares the two. */
const command = (name: string, act: (model: JobsModel, real: Real, process: JobsRig) => Promise<void>, where: number) =>
  ({
    check: () => true,
    run: async (model, real) => {
      await act(model, real, real.processes[where] as JobsRig);
      await compare(model, real);
    },
    toString: () => `${name}@${where}`,
  }) satisfies Command;

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

/** Tells the model what has finished since, in the order in which the service says that it did. */
async function catchUp(model: JobsModel, { processes: [one] }: Real): Promise<void> {
  for (const job of (await one.history()).slice(model.history.length)) model.finish(job);
}

const pick = <T>(some: readonly T[], nth: number): T | undefined => some[nth % Math.max(1, some.length)];

const createRule = (input: RuleInput, where: number) =>
  command(
    `createRule(${JSON.stringify(input)})`,
    async (model, _, process) => {
      const { id, ruleType, threshold, jobKind, severity, enabled } = await process.rules.create({
        by,
        ...input,
      });
      model.rules.push({ id, ruleType, threshold, jobKind, severity, enabled });
    },
    where,
  );

const changeRule = (nth: number, change: { enabled?: boolean; threshold?: number }, where: number) =>
  command(
    `changeRule(${nth}, ${JSON.stringify(change)})`,
    async (model, _, process) => {
      const rule = pick(model.rules, nth);
      if (!rule) return;
      await process.rules.change({ by, id: rule.id, ...change });
      Object.assign(rule, change);
    },
    where,
  );

const deleteRule = (nth: number, where: number) =>
  command(
    `deleteRule(${nth})`,
    async (model, _, process) => {
      const rule = pick(model.rules, nth);
      if (!rule) return;
      await process.rules.delete({ by, id: rule.id });
      model.rules.splice(model.rules.indexOf(rule), 1);
    },
    where,
  );

const startJob = (status: 'queued' | 'running', where: number) =>
  command(
    `startJob(${status})`,
    async (_, { open }, process) => {
      const job = await process.jobService.createExternal(by, { name: 'x', projectId: null, status });
      open.push(job.id);
    },
    where,
  );

const wait = (seconds: number) =>
  command(`wait(${seconds})`, async (_, __, process) => process.clock.advance(seconds * 1000), 0);

/** Ends some jobs at once, each in one of the processes. */
const finishJobs = (ends: readonly [number, FinalStatus][]) =>
  command(
    `finishJobs(${JSON.stringify(ends)})`,
    async (model, real) => {
      const chosen = new Map<string, FinalStatus>();
      for (const [nth, status] of ends) {
        const id = pick(real.open, nth);
        if (id) chosen.set(id, status);
      }
      await Promise.all(
        [...chosen].map(([id, status], index) =>
          (real.processes[index % 2] as JobsRig).jobService.change(by, id, { status }),
        ),
      );
      for (const id of chosen.keys()) real.open.splice(real.open.indexOf(id), 1);
      await catchUp(model, real);
    },
    0,
  );

const call = (kind: CallKind, end: FinalStatus, seconds: number, where: number) =>
  command(
    `call(${kind}, ${end}, ${seconds})`,
    async (model, real, { tracking, clock }) => {
      const leaving = new AbortController();
      const about = { by, kind, name: null, projectId: null, modelId: null, signal: leaving.signal };
      const answer = tracking.track(about, async (admitted) => {
        admitted();
        clock.advance(seconds * 1000);
        if (end === 'cancelled') leaving.abort(new Error('gone'));
        leaving.signal.throwIfAborted();
        if (end === 'failed') throw new InferenceTimeout(1);
      });
      await answer.catch(() => undefined);
      await catchUp(model, real);
    },
    where,
  );

const acknowledge = (nth: number, note: string, where: number) =>
  command(
    `acknowledge(${nth})`,
    async (model, _, process) => {
      const alert = pick(model.alerts, nth);
      if (!alert) return;
      const all = await process.allAlerts();
      const { id } = all.find(({ ruleId, jobId }) => ruleId === alert.ruleId && jobId === alert.jobId) ?? { id: '' };
      await process.alerts.acknowledge({ by, id, note });
      alert.note ??= note;
    },
    where,
  );

const preview = (input: RuleInput, where: number) =>
  command(
    `preview(${JSON.stringify(input)})`,
    async (model, _, process) => {
      const { alerts } = await process.rules.preview({ by, since: null, ...input });
      const { ruleType, threshold, jobKind = null } = input;
      expect(alerts.map(({ jobId }) => jobId)).toEqual(model.preview({ ruleType, threshold, jobKind }));
    },
    where,
  );

const where = fc.nat(1);
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

export const jobsCommands = fc.commands(
  [
    fc.tuple(rule, where).map((given) => createRule(...given)),
    fc
      .tuple(
        nth,
        fc.record({ enabled: fc.boolean(), threshold: fc.integer({ min: 1, max: 4 }) }, { requiredKeys: [] }),
        where,
      )
      .map((given) => changeRule(...given)),
    fc.tuple(nth, where).map((given) => deleteRule(...given)),
    fc.tuple(fc.constantFrom('queued' as const, 'running' as const), where).map((given) => startJob(...given)),
    fc.tuple(fc.constantFrom('running' as const), where).map((given) => startJob(...given)),
    seconds.map(wait),
    fc.array(fc.tuple(nth, end), { minLength: 1, maxLength: 6 }).map(finishJobs),
    fc.array(fc.tuple(nth, end), { minLength: 1, maxLength: 6 }).map(finishJobs),
    fc.tuple(fc.constantFrom<CallKind>('chat', 'prediction'), end, seconds, where).map((given) => call(...given)),
    fc.tuple(nth, fc.constantFrom('a', 'b'), where).map((given) => acknowledge(...given)),
    fc.tuple(rule, where).map((given) => preview(...given)),
  ],
  { size: 'large', maxCommands: 30 },
);
