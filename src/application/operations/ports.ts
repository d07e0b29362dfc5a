import type { RuntimeStatus } from '../../domain/chat/runtime.js';
import type { DeploymentStatus } from '../../domain/deployments/deployment.js';
import type { QuotaName } from '../../domain/shared/storage-quota.js';

export const expirableKinds = [
  'alert_messages',
  'credentials',
  'unused_keys',
  'mailed_tokens',
  'site_tokens',
  'usage_minutes',
  'usage_hours',
  'responses',
  'rate_limits',
] as const;
export type ExpirableKind = (typeof expirableKinds)[number];

/** Removes rows that nobody needs any more. */
export abstract class ExpiredData {
  /**
   * Removes at most `most` rows of the kind that ended before `before`. Returns the number of removed rows. A
   * message about alerts counts as ended when it is sent, a minute or an hour of usage at its start, a never used key of
   * a login and a response when they were made, and other rows when they expire. Rows that never expire stay. Concurrent calls do not wait for each other.
   */
  abstract remove(kind: ExpirableKind, before: Date, most: number): Promise<number>;
}

export interface LogTailLimits {
  /** Limits the bytes of all lines of one answer. */
  readonly answerBytes: number;
  /** Limits the bytes at the end of the log that are searched. */
  readonly searchedBytes: number;
}

export const logTailLimits: LogTailLimits = { answerBytes: 16 * 1024 * 1024, searchedBytes: 64 * 1024 * 1024 };

/** From the gravest to the slightest. */
export const logLevels = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogTailQuery {
  /** The maximum number of lines, at least 1. */
  readonly most: number;
  /** Keeps only lines that contain each of these as a whole word. An empty text matches no line. */
  readonly mentioning: readonly string[];
  /** Keeps only lines of one of these levels. Null for lines of every level. */
  readonly levels: readonly LogLevel[] | null;
  /** Keeps only lines with this text, in upper or lower case. */
  readonly text?: string | undefined;
  /** Keeps only lines from this time on. A line without a time does not fit a period. */
  readonly from?: Date | undefined;
  /** Keeps only lines before this time. */
  readonly to?: Date | undefined;
}

/** Reads the end of the service's log, rotated files included. */
export abstract class LogTail {
  /** The path of the file that is written now. */
  abstract readonly file: string;
  /**
   * Returns the newest `most` whole lines, oldest first. Returns fewer lines if they exceed the limits. Needs memory
   * only for the answer and one line. Returns no lines if there is no log.
   */
  abstract read(query: LogTailQuery): Promise<string[]>;
}

/** Reports the service's numbers to a monitoring system. */
export abstract class Metrics {
  /** Returns the metrics in the text format of Prometheus within two seconds. Omits metrics that it cannot read. */
  abstract read(): Promise<string>;
}

export abstract class StorageProbe {
  /**
   * Resolves within seconds when the database answers and its migrations are done. Throws StorageUnavailable, and
   * InstanceOutdated if a newer version has migrated the database.
   */
  abstract check(): Promise<void>;
}

/** The process that runs this instance. */
export abstract class ServiceProcess {
  /** The version of the service, as in package.json. */
  abstract readonly version: string;
  /** Returns the memory that the process takes now, without its child processes. */
  abstract memoryBytes(): number;
}

/** `starting`: it loads its models. `draining`: it ends, and `/health/ready` tells proxies to send no more calls. */
export const instanceStates = ['starting', 'ready', 'draining'] as const;

/** A target of a runtime, as it is on one instance. */
export interface ReportedRuntime {
  readonly projectId: string;
  readonly modelId: string;
  readonly state: RuntimeStatus['state'];
  /** Counts the calls that wait for their turn. */
  readonly waiting: number;
}

export interface ReportedDeployment {
  readonly id: string;
  readonly status: DeploymentStatus;
}

/**
 * The facts that an instance tells about itself: no address, no path and no reason of a failure. Instances of several
 * versions read them, so a later version may add fields but must keep these.
 */
export interface InstanceReport {
  readonly name: string;
  readonly version: string;
  /** The start of the instance, by its own clock. */
  readonly since: Date;
  readonly state: (typeof instanceStates)[number];
  /** The newest projects first. A stored report has the runtimes of all teams, at most `instanceLimits.reported`. */
  readonly runtimes: readonly ReportedRuntime[];
  readonly deployments: readonly ReportedDeployment[];
  /** Counts the waiting calls of all runtimes, also of those that are not in `runtimes`. */
  readonly waitingCalls: number;
  /** The memory of the instance's process, without its child processes. */
  readonly memoryBytes: number;
}

/** A report with the number that `InstanceRegistry` gave the instance. */
export interface NumberedReport extends InstanceReport {
  readonly number: number;
}

/**
 * `reported` limits the runtimes of a stored report, which takes some 140 bytes for each of them: at most 700 KB.
 * `listed` limits the runtimes of each instance in a list, and `instances` the instances. `livesMs` is the time after which an
 * instance without a new report is not listed.
 */
export const instanceLimits = { reported: 5_000, listed: 1_000, instances: 50, livesMs: 15_000 } as const;

/** Keeps the last report of each instance. */
export abstract class InstanceReports {
  /** Replaces the report of an instance and notes the time, with one statement. */
  abstract save(report: NumberedReport): Promise<void>;
  /**
   * Returns the reports that are not older than `instanceLimits.livesMs`, with one statement. The clock of the store
   * decides. Lists the oldest instances first, and at most `instanceLimits.instances`. Each report has its runtimes
   * of the projects, or for null of all projects: the newest projects first, at most `instanceLimits.listed`.
   */
  abstract living(projects: readonly string[] | null): Promise<NumberedReport[]>;
  /** Lists the numbers of all instances that have a report, however old it is. */
  abstract numbers(): Promise<number[]>;
  /** Removes the report of an instance. Does nothing if there is none. */
  abstract remove(number: number): Promise<void>;
}

/** The caller that a call counts for. */
export interface RateLimitKey {
  /** A credential and an address with the same `value` are counted separately. */
  readonly kind: 'credential' | 'address';
  readonly value: string;
}

export interface RateLimit {
  readonly policy: 'default' | 'auth' | 'key';
  /** Calls within 60 seconds. */
  readonly limit: number;
}

/** The calls that one limit still allows a caller. */
export interface Quota extends RateLimit {
  readonly remaining: number;
  /** Whole seconds until more calls remain than now, from 1 to 60. 0 if all calls remain. */
  readonly seconds: number;
}

export interface RateLimitVerdict {
  readonly admitted: boolean;
  /** One for each limit, in the order of the limits. */
  readonly quotas: readonly Quota[];
}

/**
 * Counts calls in a sliding window of 60 seconds. Instances that share a store share its counts: together, they admit
 * at most 5 % more than the limit, and refuse no call before 95 % of it. Limits below 40 are exact, and those below 100
 * are never exceeded. While the counts are out of reach, each instance counts for itself: the store never throws for
 * that. If an answer with counts is lost, its calls may count twice, so a call may be refused earlier.
 */
export abstract class RateLimitStore {
  /**
   * Counts `calls` for every limit. If one limit is reached, counts nothing and returns `admitted` as false. With 0
   * calls, only returns the quotas. A refused call is not counted, so it does not extend the wait. The quotas may be
   * some seconds behind the calls of other instances.
   */
  abstract take(key: RateLimitKey, limits: readonly RateLimit[], calls: 0 | 1): Promise<RateLimitVerdict>;

  /**
   * Returns the quotas if the store knows that a limit is reached, else null. A store with distant counts does not wait
   * for them: it returns null if it does not know.
   */
  async reached(key: RateLimitKey, limits: readonly RateLimit[]): Promise<readonly Quota[] | null> {
    const { quotas } = await this.take(key, limits, 0);
    return quotas.some(({ remaining }) => remaining === 0) ? quotas : null;
  }
}

/** The quotas of what the database stores. */
export type MeasuredQuota = Exclude<QuotaName, 'uploadBytes'>;

/** An account and its team. Both are null for the master key. */
export interface StorageOwner {
  readonly teamId: string | null;
  readonly accountId: string | null;
}

export abstract class StorageMeter {
  /**
   * Returns how much the owner has stored, with one statement. The bytes of a workspace are those of all versions of the
   * specs of projects and models, and of all kept records of datasets.
   */
  abstract measure<Name extends MeasuredQuota>(
    owner: StorageOwner,
    names: readonly Name[],
  ): Promise<Readonly<Record<Name, number>>>;
}
