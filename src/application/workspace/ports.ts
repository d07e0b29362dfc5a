import type { Dataset, DatasetVersion } from '../../domain/workspace/dataset.js';
import type { DatasetRecord } from '../../domain/workspace/dataset-record.js';
import type { Model, ModelVersion } from '../../domain/workspace/model.js';
import type { AliasChange, LivingAlias } from '../../domain/workspace/model-alias.js';
import type { Project } from '../../domain/workspace/project.js';
import type { Starter } from '../../domain/workspace/starter.js';

export abstract class ContentHasher {
  /**
   * SHA-256 of the parts put together, as UTF-8, in 64 small hexadecimal digits. However much it is, other work goes on
   * meanwhile.
   */
  abstract hash(parts: Iterable<string>): Promise<string>;
}

/** A version without what there was to find in it. */
export type DatasetVersionEntry = Omit<DatasetVersion, 'validation'>;

export abstract class DatasetRepository {
  /** Adds the dataset with its records and its first version. Throws NotFound when the project is gone. */
  abstract add(dataset: Dataset, records: readonly DatasetRecord[]): Promise<void>;
  /** Null for an unknown id, and for a dataset of another project. */
  abstract find(projectId: string, id: string): Promise<Dataset | null>;
  /** At most `limit` datasets of a project, newest first, from the one before `after` on. No records are read. */
  abstract all(projectId: string, page: { readonly limit: number; readonly after: string | null }): Promise<Dataset[]>;
  /** The records of a version, exactly as they were given; null where the dataset never had it. */
  abstract records(id: string, version: number): Promise<readonly DatasetRecord[] | null>;
  /**
   * Writes `next` if the stored dataset still has the version and the state of `current`; false, and nothing written,
   * if not. Of any number of callers with the same `current` exactly one gets true. A new version has the `records`
   * given, or those of `current` for null; where the version stays, so do its name and its records in the history.
   */
  abstract replace(current: Dataset, next: Dataset, records: readonly DatasetRecord[] | null): Promise<boolean>;
  /** Every version that the dataset ever had, newest first; at most `limit`, those before version `before`. */
  abstract versions(
    id: string,
    page: { readonly limit: number; readonly before: number | null },
  ): Promise<DatasetVersionEntry[]>;
  /** Null where the dataset never had it. */
  abstract version(id: string, version: number): Promise<DatasetVersion | null>;
  /** Removes the dataset with its history, if it still has the version of `current` and is editable; false if not. */
  abstract remove(current: Dataset): Promise<boolean>;
}

/** The changes of aliases; each stays as it was written, and goes only with its project. */
export abstract class ModelAliasRepository {
  /**
   * Writes the change, unless the alias has one with that version already: false then. Of any number of callers with
   * the same version exactly one gets true. Throws NotFound when the project or the model is gone.
   */
  abstract append(change: AliasChange): Promise<boolean>;
  /** The newest changes of an alias, at most `most`, newest first. */
  abstract history(projectId: string, alias: string, most: number): Promise<AliasChange[]>;
  /** The last change of each alias of the project that points to a model by it, the one changed last first. */
  abstract living(projectId: string): Promise<LivingAlias[]>;
}

/** Models go with their project, and their versions with them. */
export abstract class ModelRepository {
  /**
   * Adds the model, unless its project has one with the same `requestId` already; answers the one that is stored.
   * Of any number of callers with the same `requestId` exactly one adds. Throws NotFound when the project is gone.
   */
  abstract addOnce(model: Model): Promise<Model>;
  /** Null for an unknown id, and for a model of another project. */
  abstract find(projectId: string, id: string): Promise<Model | null>;
  /** The models of a project, newest first: at most `limit`, those that come after the one with the id `after`. */
  abstract all(projectId: string, page: { readonly limit: number; readonly after: string | null }): Promise<Model[]>;
  /** The registered models of the projects named, newest first. */
  abstract registered(projectIds: readonly string[]): Promise<Model[]>;
  /**
   * Writes `next` if the stored model still has the version and the state of `current`; false, and nothing written,
   * if not. Of any number of callers with the same `current` exactly one gets true.
   */
  abstract replace(current: Model, next: Model): Promise<boolean>;
  /**
   * Removes the model, with all its versions, if it still has the version and the state of `current`; false if not.
   * Its `requestId` is free then.
   */
  abstract remove(current: Model): Promise<boolean>;
  /**
   * What `addOnce` and `replace` wrote, newest first, a version once and without its spec: at most `limit`, those
   * before the version `before`.
   */
  abstract versions(
    modelId: string,
    page: { readonly limit: number; readonly before: number | null },
  ): Promise<Omit<ModelVersion, 'spec'>[]>;
  /** Null for a version that never was. */
  abstract version(modelId: string, version: number): Promise<ModelVersion | null>;
}

/** A version of a project as it was: `createdBy` and `createdAt` are of the version. */
export interface ProjectVersion extends Pick<Project, 'version' | 'name' | 'spec' | 'createdBy' | 'createdAt'> {}

export abstract class ProjectRepository {
  abstract add(project: Project): Promise<void>;
  /** Null for an unknown id, and for a project of another team. */
  abstract find(teamId: string, id: string): Promise<Project | null>;
  /** At most `limit` projects of a team, newest first, from the one before `after` on. */
  abstract all(teamId: string, page: { readonly limit: number; readonly after: string | null }): Promise<Project[]>;
  /** What a team calls its newest projects, newest first, at most `limit`. */
  abstract names(teamId: string, limit: number): Promise<Pick<Project, 'id' | 'name'>[]>;
  /**
   * Writes `next` if the stored project still has the version of `current`; false, and nothing written, if not.
   * Of any number of callers with the same `current` exactly one gets true. What a review found is left as it is.
   */
  abstract replace(current: Project, next: Project): Promise<boolean>;
  /** Keeps what the review of a version found, if that is still the version; false if it is not. */
  abstract noteReview(project: Pick<Project, 'id' | 'version' | 'reviewedVersion'>): Promise<boolean>;
  /** Removes the project with all that hangs on it, if it still has this version; false if not. */
  abstract remove(project: Pick<Project, 'id' | 'version'>): Promise<boolean>;
  /** Every version that the project ever had, newest first; at most `limit`, those before version `before`. */
  abstract versions(
    id: string,
    page: { readonly limit: number; readonly before: number | null },
  ): Promise<ProjectVersionEntry[]>;
  /** Null where the project never had it. */
  abstract version(id: string, version: number): Promise<ProjectVersion | null>;
}

export type ProjectVersionEntry = Omit<ProjectVersion, 'spec'>;

/** The catalog of starters. It stays the same as long as the service runs: nobody can change what it has answered. */
export abstract class StarterCatalog {
  /** All of them, by id. */
  abstract all(): Promise<readonly Starter[]>;
  /** Null for an unknown id. */
  abstract find(id: string): Promise<Starter | null>;
}
