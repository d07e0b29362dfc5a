import type { Pauses } from '../../application/shared/ports/pauses.js';

export class TimedPauses implements Pauses {
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
