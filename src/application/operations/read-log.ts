import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { Logger } from '../shared/ports.js';
import { LogTail } from './ports.js';

interface Input {
  readonly by: Caller | null;
  readonly most: number;
  readonly jobId: string | null;
}

/** The newest lines of the service's log, or those of them that mention a job. */
@injectable()
export class ReadLog {
  constructor(
    private readonly tail: LogTail,
    private readonly log: Logger,
  ) {}

  async execute({ by, most, jobId }: Input): Promise<{ lines: string[]; file: string }> {
    authorize(by, permissions.readMonitoring);
    await this.log.flush();
    return { lines: await this.tail.read({ most, mentioning: jobId }), file: this.tail.file };
  }
}
