import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { Log } from '../shared/ports/log.js';
import type { LogTail } from './ports/log-tail.js';

interface Input {
  readonly by: Caller | null;
  readonly most: number;
  readonly jobId: string | null;
}

/** The newest lines of the service's log, or those of them that mention a job. */
export class ReadLog {
  constructor(
    private readonly tail: LogTail,
    private readonly log: Log,
  ) {}

  async execute({ by, most, jobId }: Input): Promise<{ lines: string[]; file: string }> {
    authorize(by, permissions.readMonitoring);
    await this.log.flush();
    return { lines: await this.tail.read({ most, mentioning: jobId }), file: this.tail.file };
  }
}
