import { port } from '../../shared/port.js';

/** The database as an operator sees it. */
export interface Storage {
  /** Resolves, within seconds, when the database answers and its migrations are done; throws StorageUnavailable if not. */
  check(): Promise<void>;
}
export const Storage = port<Storage>('operations.Storage');
