import type { Dataset, DatasetVersion } from '../../../domain/workspace/dataset.js';
import type { DatasetRecord } from '../../../domain/workspace/dataset-record.js';
import { port } from '../../shared/port.js';

/** A version without what there was to find in it. */
export type VersionEntry = Omit<DatasetVersion, 'validation'>;

export interface Datasets {
  /** Adds the dataset with its records and its first version. Throws NotFound when the project is gone. */
  add(dataset: Dataset, records: readonly DatasetRecord[]): Promise<void>;
  /** Null for an unknown id, and for a dataset of another project. */
  find(projectId: string, id: string): Promise<Dataset | null>;
  /** At most `limit` datasets of a project, newest first, from the one before `after` on. No records are read. */
  all(projectId: string, page: { readonly limit: number; readonly after: string | null }): Promise<Dataset[]>;
  /** The records of a version, exactly as they were given; null where the dataset never had it. */
  records(id: string, version: number): Promise<readonly DatasetRecord[] | null>;
  /**
   * Writes `next` if the stored dataset still has the version and the state of `current`; false, and nothing written,
   * if not. Of any number of callers with the same `current` exactly one gets true. A new version has the `records`
   * given, or those of `current` for null; where the version stays, so do its name and its records in the history.
   */
  replace(current: Dataset, next: Dataset, records: readonly DatasetRecord[] | null): Promise<boolean>;
  /** Every version that the dataset ever had, newest first; at most `limit`, those before version `before`. */
  versions(id: string, page: { readonly limit: number; readonly before: number | null }): Promise<VersionEntry[]>;
  /** Null where the dataset never had it. */
  version(id: string, version: number): Promise<DatasetVersion | null>;
  /** Removes the dataset with its history, if it still has the version of `current` and is editable; false if not. */
  remove(current: Dataset): Promise<boolean>;
}
export const Datasets = port<Datasets>('workspace.Datasets');
