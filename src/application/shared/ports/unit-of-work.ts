import { port } from '../port.js';

export interface UnitOfWork {
  /**
   * All that repositories do inside `work` commits together, or not at all when `work` throws.
   * Serializable: the outcome is as if units had run one after another. `work` runs again when it lost against another
   * unit, so it touches repositories only. A unit inside a unit joins it.
   */
  run<T>(work: () => Promise<T>): Promise<T>;
}
export const UnitOfWork = port<UnitOfWork>('shared.UnitOfWork');
