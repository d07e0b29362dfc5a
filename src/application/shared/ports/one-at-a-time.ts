import { port } from '../port.js';

export interface OneAtATime {
  /**
   * Runs `work` when no other work of the same `line` runs, in whatever process of the service: it sees all that those
   * before it have written. All that repositories do inside commits together, or not at all when `work` throws. Nobody
   * in the line loses against another and has to begin anew; others than those in the line can still make it run again,
   * so it touches repositories only. Throws where it is called inside of a unit of work.
   */
  run<T>(line: string, work: () => Promise<T>): Promise<T>;
}
export const OneAtATime = port<OneAtATime>('shared.OneAtATime');
