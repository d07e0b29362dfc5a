import { ModelBusy } from '../../../domain/chat/errors.js';

/** One at a time, in order of arrival; at most `queue` wait. */
export class Turns {
  private readonly waiting: (() => void)[] = [];
  private taken = false;

  constructor(private readonly queue: number) {}

  /** Does `work` when its turn comes. Once `ended` is aborted it rejects with the signal's reason, and the turn is over. */
  async take<T>(ended: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.turn(ended);
    try {
      ended.throwIfAborted();
      return await Promise.race([work(), over(ended)]);
    } catch (error) {
      // Work that heeds the signal too may fail first, and in other words.
      throw ended.aborted ? ended.reason : error;
    } finally {
      this.leave();
    }
  }

  private turn(ended: AbortSignal): Promise<void> | undefined {
    if (!this.taken) {
      this.taken = true;
      return undefined;
    }
    if (this.waiting.length >= this.queue) throw new ModelBusy(1);
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.waiting.splice(this.waiting.indexOf(enter), 1);
        reject(ended.reason);
      };
      const enter = () => {
        ended.removeEventListener('abort', giveUp);
        resolve();
      };
      ended.addEventListener('abort', giveUp);
      this.waiting.push(enter);
    });
  }

  private leave(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.taken = false;
  }
}

const over = (ended: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    ended.addEventListener('abort', () => reject(ended.reason), { once: true });
  });
