import { injectable } from 'inversify';
import type { Delay } from '../../application/shared/ports.js';

@injectable()
export class TimedDelay implements Delay {
  take(milliseconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      const timer = setTimeout(() => {
        signal.removeEventListener('abort', end);
        resolve();
      }, milliseconds);
      if (signal.aborted) end();
      else signal.addEventListener('abort', end, { once: true });
    });
  }
}
