import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { RuntimeLoading } from '../../domain/chat/errors.js';
import { Instance } from '../shared/instance.js';
import type { WithMemory } from '../shared/memory-budget.js';
import { Logger } from '../shared/ports.js';
import { type LogLevel, LogTail, logLevels, Metrics, StorageProbe } from './ports.js';

interface LogQuery extends WithMemory {
  readonly most: number;
  /** Only lines that mention this job. */
  readonly jobId: string | null;
  /** Only lines that mention this request. */
  readonly requestId: string | null;
  /** Only lines of this level and of graver levels. */
  readonly level: LogLevel | null;
  /** Only lines with this text. */
  readonly text?: string | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** The usual length of a line, to reserve memory. */
const LINE_BYTES = 400;

/** The memory that a search of the log reserves. The number is large to limit the concurrent searches. */
const SEARCH_BYTES = 1024 * 1024;

/** Reads the log and the metrics, and tells whether this instance is ready. */
@injectable()
export class MonitoringService {
  constructor(
    private readonly tail: LogTail,
    private readonly logger: Logger,
    private readonly metrics: Metrics,
    private readonly storage: StorageProbe,
    private readonly instance: Instance,
  ) {}

  /** Returns the newest lines of the log that match the query. */
  async readLog(
    by: Caller | null,
    { most, jobId, requestId, level, memory, ...others }: LogQuery,
  ): Promise<{ lines: string[]; file: string }> {
    authorize(by, permissions.readMonitoring);
    const mentioning = [jobId, requestId].filter((word) => word !== null);
    const levels = level && logLevels.slice(0, logLevels.indexOf(level) + 1);
    const searches = mentioning.length > 0 || levels !== null || Object.values(others).some((one) => one !== undefined);
    await memory.reserve(Math.max(most * LINE_BYTES, searches ? SEARCH_BYTES : 0));
    await this.logger.flush();
    return { lines: await this.tail.read({ most, mentioning, levels, ...others }), file: this.tail.file };
  }

  /** Returns all metrics in the text format of Prometheus. */
  async readMetrics(by: Caller | null): Promise<string> {
    authorize(by, permissions.readMetrics);
    return this.metrics.read();
  }

  /**
   * Resolves when the database answers, its migrations are done and this instance has loaded its models. Throws
   * StorageUnavailable, InstanceOutdated, RuntimeLoading.
   */
  async checkReady(): Promise<void> {
    await this.storage.check();
    if (this.instance.loading) throw new RuntimeLoading();
  }
}
