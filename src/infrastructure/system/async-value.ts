import { AsyncLocalStorage } from 'node:async_hooks';

/** Holds all values in one storage: Node.js copies the store of each storage to every promise that is made. */
const storage = new AsyncLocalStorage<Readonly<Record<symbol, unknown>>>();

/** A value that belongs to the running code, also after each await. */
export class AsyncValue<T> {
  private readonly key = Symbol();

  get current(): T | undefined {
    return storage.getStore()?.[this.key] as T | undefined;
  }

  /** Runs `work` with this value. Other values stay as they are. */
  run<R>(value: T, work: () => R): R {
    return storage.run({ ...storage.getStore(), [this.key]: value }, work);
  }
}
