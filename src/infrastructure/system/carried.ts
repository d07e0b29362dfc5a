import { AsyncLocalStorage } from 'node:async_hooks';

/** One storage for all values: each of its own would cost every promise of the process. */
const storage = new AsyncLocalStorage<readonly unknown[]>();
let places = 0;

/** A value that work carries along, also after an await. */
export class Carried<T> {
  private readonly place = places++;

  get value(): T | undefined {
    return storage.getStore()?.[this.place] as T | undefined;
  }

  /** Does the work, which carries this value, and of others what is carried here. */
  run<R>(value: T | undefined, work: () => R): R {
    const values = storage.getStore()?.slice() ?? [];
    values[this.place] = value;
    return storage.run(values, work);
  }
}

/** Does work that is nobody's: it carries nothing. */
export const carryingNothing = <R>(work: () => R): R => storage.run([], work);

/** `work` for others to call: it carries all that is carried here, and nothing that its caller does. */
export function carrying<A extends unknown[], R>(work: (...given: A) => R): (...given: A) => R {
  const values = storage.getStore() ?? [];
  return (...given) => storage.run(values, work, ...given);
}
