import { injectable } from 'inversify';
import { Clock, Logger } from '../shared/ports.js';
import { RecordRepository } from './ports.js';

/** The pause between two lines about the progress. */
const PROGRESS_MS = 10_000;

/** Moves the records of an earlier release into their new form, and removes records that no version has any more. */
@injectable()
export class DatasetUpkeep {
  constructor(
    private readonly records: RecordRepository,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Works in small steps until nothing is left or `stopping` is aborted. A step that was cut off is begun again. */
  async run(stopping: AbortSignal): Promise<void> {
    try {
      await this.moveAll(stopping);
    } finally {
      while (!stopping.aborted && (await this.records.tidy()));
    }
  }

  private async moveAll(stopping: AbortSignal): Promise<void> {
    let [last, contents, toldAt] = ['', 0, 0];
    while (!stopping.aborted) {
      const moved = await this.records.moveOne(last);
      if (!moved) break;
      last = moved.datasetId;
      contents++;
      const now = this.clock.now().getTime();
      if (now - toldAt < PROGRESS_MS) continue;
      toldAt = now;
      this.log.info('datasets of an earlier version are moved', { contents, datasets_left: moved.datasets });
    }
    if (contents > 0 && !stopping.aborted) this.log.info('all datasets of an earlier version are moved', { contents });
  }
}
