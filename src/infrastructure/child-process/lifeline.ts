import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

/**
 * Ties the life of this process to the other end of the pipe `fd`. A thread of its own watches it, since the main thread
 * may be inside native code for long. Resolves once the watch is kept.
 */
export function holdLifeline(fd: number): Promise<void> {
  const watch = new Worker(join(__dirname, 'lifeline-watch.js'), { workerData: fd });
  watch.unref();
  return new Promise((resolve, reject) => {
    watch.once('message', () => resolve());
    watch.once('error', reject);
  });
}
