import { port } from '../port.js';

export type LogFields = Readonly<Record<string, unknown>>;

/** The service's log: one line per event. */
export interface Log {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  /** Runs `work`; every line logged during it, also after an await, carries `fields`. */
  within<T>(fields: LogFields, work: () => T): T;
  /** `work` for others to call: every line logged during it carries the fields around here, and none around its caller. */
  bound<A extends unknown[], T>(work: (...given: A) => T): (...given: A) => T;
  /** Resolves when whoever reads the log finds all that was logged before, or it cannot be written. */
  flush(): Promise<void>;
}
export const Log = port<Log>('shared.Log');
