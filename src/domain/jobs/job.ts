import type { Caller } from '../accounts/caller.js';
import { KeyScope } from '../accounts/key-scope.js';
import { type Finding, InvalidRequest } from '../shared/errors.js';
import type { Json } from '../workspace/json.js';
import type { Attempt } from './attempt.js';
import { JobFinished } from './errors.js';

/** `sync`: a caller waits for the end. `async`: no caller waits. */
export const jobModes = ['async', 'sync'] as const;
type JobMode = (typeof jobModes)[number];

export const jobKinds = ['chat', 'embedding', 'prediction', 'external', 'evaluation'] as const;
export type JobKind = (typeof jobKinds)[number];
export const callKinds = ['chat', 'embedding', 'prediction'] as const satisfies JobKind[];
export type CallKind = (typeof callKinds)[number];

export const openStatuses = ['queued', 'running'] as const;
export const finalStatuses = ['succeeded', 'failed', 'cancelled'] as const;
export const jobStatuses = [...openStatuses, ...finalStatuses] as const;
export type OpenStatus = (typeof openStatuses)[number];
export type FinalStatus = (typeof finalStatuses)[number];
export type JobStatus = OpenStatus | FinalStatus;

interface Progress {
  readonly done: number;
  /** The number of all steps. Null: unknown. */
  readonly total: number | null;
}

/** The figures that a call reports at its end. */
export interface CallUsage {
  /** The tokens of the prompt and of the answer. Null: the model does not report them. */
  readonly tokensIn: number | null;
  readonly tokensOut: number | null;
  /** Seconds from the call's arrival to the first part of its answer. Null without a stream. */
  readonly firstToken: number | null;
  /** The time that budgets count. Absent for a call: from its start to its end. */
  readonly seconds?: number;
}

/** The figures of a job that count in `GET /v1/usage`. */
export interface JobUsage extends CallUsage {
  /** The API key of the call. Null for a session or the master key. */
  readonly keyId: string | null;
  /** The error code of a failed call. */
  readonly failure: string | null;
  /** The models that the call has tried. Absent before its end, for a prediction, and in calls of earlier versions. */
  readonly attempts?: readonly Attempt[];
  /** The number of the model calls of an evaluation that count. Absent for a call. */
  readonly calls?: number;
}

export interface Job {
  readonly id: string;
  /** The team of the owner. Null: the job is of the master key. */
  readonly teamId: string | null;
  readonly kind: JobKind;
  readonly mode: JobMode;
  readonly status: JobStatus;
  readonly name: string | null;
  readonly projectId: string | null;
  readonly datasetId: string | null;
  readonly modelId: string | null;
  /** The id of an account, or `MASTER`. */
  readonly requestedBy: string;
  /** For a call, the time of its arrival. */
  readonly createdAt: Date;
  /** The time at which the job began. Null: it never began. */
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly progress: Progress;
  readonly result: Json;
  readonly error: string | null;
  /** The instance that a `sync` job runs in. */
  readonly instance: number | null;
  /** For an evaluation, the sums of its calls so far. Null: the job makes no calls. */
  readonly usage: JobUsage | null;
  /** Text with nine decimal places. For an evaluation, the sum of its calls so far. Null: no call with a price has ended. */
  readonly cost: string | null;
}

/** Stands for the master key in place of the id of an account. */
export const MASTER = 'master';

/** The fields of a finished job that alert rules read. */
export interface FinishedJob
  extends Pick<
    Job,
    'id' | 'teamId' | 'kind' | 'mode' | 'projectId' | 'requestedBy' | 'createdAt' | 'startedAt' | 'usage' | 'cost'
  > {
  readonly status: FinalStatus;
  readonly finishedAt: Date;
}

export interface JobChange {
  readonly status?: JobStatus;
  /** An absent `total` stays unchanged. */
  readonly progress?: { readonly done: number; readonly total?: number | null };
  readonly result?: Json;
  readonly error?: string | null;
}

/** Counts names in Unicode code points, results and errors in bytes. */
export const jobLimits = { nameLength: 200, resultBytes: 65_536, errorBytes: 4_096, progress: 2_147_483_647 } as const;

type Owner = Pick<Job, 'id' | 'teamId' | 'projectId' | 'requestedBy' | 'createdAt'>;
type External = Owner & { name: string; status: OpenStatus; progress?: JobChange['progress'] };
type Evaluated = Owner & Pick<Job, 'name' | 'datasetId' | 'modelId' | 'progress'> & { keyId?: string | null };
type Call = Owner &
  Pick<Job, 'name' | 'modelId'> & { kind: CallKind; startedAt: Date; instance: number; keyId: string | null };
type End = {
  status: FinalStatus;
  result?: Json;
  error?: string;
  /** The code of the error, for a call. */
  failure?: string;
  usage?: CallUsage | undefined;
  cost?: string | null;
  attempts?: readonly Attempt[] | undefined;
};

const fresh = {
  datasetId: null,
  modelId: null,
  finishedAt: null,
  result: null,
  error: null,
  instance: null,
  usage: null,
  cost: null,
} as const;

const noFigures: CallUsage = { tokensIn: null, tokensOut: null, firstToken: null };

export const Job = {
  /** Creates a job for work that runs elsewhere. Throws InvalidRequest. */
  external({ name: typed, status, progress: reported, ...owner }: External): Job {
    const name = typed.trim();
    const progress = progressAfter({ done: 0, total: null }, reported);
    refuse([nameFinding(name), progressFinding(progress)]);
    const startedAt = status === 'running' ? owner.createdAt : null;
    return { ...fresh, ...owner, kind: 'external', mode: 'async', status, name, startedAt, progress };
  },

  /** Creates a job for a call that a model has begun to work on. */
  call: ({ keyId, ...call }: Call): Job => ({
    ...fresh,
    ...call,
    mode: 'sync',
    status: 'running',
    usage: { ...noFigures, keyId, failure: null },
    progress: { done: 0, total: 1 },
  }),

  /** Creates a queued evaluation. Throws InvalidRequest. */
  evaluation({ name: typed, keyId = null, ...evaluated }: Evaluated): Job {
    const name = typed?.trim() ?? null;
    refuse([name !== null && nameFinding(name)]);
    const usage = { ...noFigures, keyId, failure: null, calls: 0, seconds: 0 };
    const about = { kind: 'evaluation', mode: 'async', status: 'queued', name, startedAt: null, usage } as const;
    return { ...fresh, ...evaluated, ...about };
  },

  /** Records progress. The first progress starts the job. Throws JobFinished. */
  advance(job: Job, done: number, at: Date): Job {
    requireOpen(job);
    return moved({ ...job, progress: { ...job.progress, done } }, 'running', at);
  },

  /** Applies a report about work that runs elsewhere. Throws InvalidRequest, JobFinished. */
  change(job: Job, change: JobChange, at: Date): Job {
    const { status = job.status, result = job.result, error = job.error } = change;
    const progress = progressAfter(job.progress, change.progress);
    refuse([
      progressFinding(progress),
      bytes(JSON.stringify(result)) > jobLimits.resultBytes && {
        path: 'result',
        message: `must have at most ${jobLimits.resultBytes} bytes as JSON`,
      },
      bytes(error ?? '') > jobLimits.errorBytes && {
        path: 'error',
        message: `must have at most ${jobLimits.errorBytes} bytes`,
      },
    ]);
    requireOpen(job);
    refuse([
      job.kind !== 'external' && { path: '', message: `a job of the kind ${job.kind} is changed by the service alone` },
      job.status === 'running' && status === 'queued' && { path: 'status', message: 'can no longer become queued' },
    ]);
    return moved({ ...job, progress, result, error }, status, at);
  },

  /** Throws JobFinished, and InvalidRequest for a `sync` job. */
  cancel(job: Job, at: Date): Job {
    requireOpen(job);
    const message = `a job of the kind ${job.kind} ends with the call that waits for it`;
    refuse([job.mode === 'sync' && { path: '', message }]);
    return moved(job, 'cancelled', at);
  },

  /** Ends a job. The job of a call belongs to the model that was tried last. Throws JobFinished. */
  finish(job: Job, end: End, at: Date): Job {
    requireOpen(job);
    const { progress } = job;
    const done = end.status === 'succeeded' ? (progress.total ?? progress.done) : progress.done;
    const error = end.error === undefined ? job.error : shortened(end.error);
    const result = end.result === undefined ? job.result : end.result;
    const failure = end.status === 'failed' && job.mode === 'sync' ? (end.failure ?? 'internal_error') : null;
    const { attempts = [] } = end;
    const usage = job.usage && { ...job.usage, ...end.usage, failure, ...(attempts.length > 0 && { attempts }) };
    const modelId = attempts.at(-1)?.modelId ?? job.modelId;
    const cost = end.cost === undefined ? job.cost : end.cost;
    return moved({ ...job, modelId, progress: { ...progress, done }, result, error, usage, cost }, end.status, at);
  },

  isFinished: <Some extends Pick<Job, 'status' | 'finishedAt'>>(job: Some): job is Some & FinishedJob =>
    job.finishedAt !== null,

  /** Returns the seconds from the start of the job to its end. Returns null if one of these times is missing. */
  duration({ startedAt, finishedAt }: Pick<Job, 'startedAt' | 'finishedAt'>): number | null {
    if (!startedAt || !finishedAt) return null;
    return Math.max(0, finishedAt.getTime() - startedAt.getTime()) / 1000;
  },
};

function requireOpen({ status, finishedAt }: Job): void {
  if (finishedAt) throw new JobFinished(status);
}

function moved(job: Job, status: JobStatus, at: Date): Job {
  const isOpen = openStatuses.some((one) => one === status);
  const startedAt = job.startedAt ?? (status === 'running' ? at : null);
  return { ...job, status, startedAt, finishedAt: isOpen ? null : at };
}

function progressAfter(before: Progress, reported: JobChange['progress']): Progress {
  if (!reported) return before;
  return { done: reported.done, total: reported.total === undefined ? before.total : reported.total };
}

function nameFinding(name: string): Finding | false {
  const length = [...name].length;
  const fits = length >= 1 && length <= jobLimits.nameLength;
  return !fits && { path: 'name', message: `must have 1 to ${jobLimits.nameLength} characters` };
}

const progressFinding = ({ done, total }: Progress) =>
  total !== null && done > total && { path: 'progress.done', message: `must be at most the total, ${total}` };

function refuse(findings: readonly (Finding | false)[]): void {
  const found = findings.filter((finding) => finding !== false);
  if (found.length > 0) throw new InvalidRequest(found);
}

const encoder = new TextEncoder();
const bytes = (text: string): number => encoder.encode(text).length;

/** Cuts a text to the limit in bytes. A character takes four bytes at most. */
const shortened = (text: string): string =>
  bytes(text) <= jobLimits.errorBytes ? text : [...text].slice(0, jobLimits.errorBytes / 4).join('');

/** Decides who may see and change a job. */
export const JobSight = {
  ownerOf: (caller: Caller): Pick<Job, 'teamId' | 'requestedBy'> =>
    caller.kind === 'master'
      ? { teamId: null, requestedBy: MASTER }
      : { teamId: caller.teamId, requestedBy: caller.accountId },

  /** Returns a team if the caller sees only the jobs of this team. Returns null if the caller sees all jobs. */
  teamSeenBy: (caller: Caller): string | null => (caller.kind === 'master' || caller.operator ? null : caller.teamId),

  canSee: (caller: Caller, job: Job): boolean =>
    KeyScope.covers(caller, job.projectId) &&
    (caller.kind === 'master' || caller.operator || job.teamId === caller.teamId),

  canChange: (caller: Caller, job: Job): boolean =>
    KeyScope.covers(caller, job.projectId) && (caller.kind === 'master' || job.teamId === caller.teamId),

  /** Removes name, result and error from another team's job. Jobs of the master key have no team and stay unchanged. */
  shownTo(caller: Caller, job: Job): Job {
    const isOwn = job.teamId === (caller.kind === 'master' ? null : caller.teamId);
    return isOwn || job.teamId === null ? job : { ...job, name: null, result: null, error: null };
  },
};
