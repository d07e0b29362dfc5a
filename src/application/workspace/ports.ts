import type { Dataset, DatasetRecord, DatasetVersion } from '../../domain/workspace/dataset.js';
import type { Model, ModelVersion } from '../../domain/workspace/model.js';
import type { AliasChange, LivingAlias } from '../../domain/workspace/model-alias.js';
import type { Project, ProjectVersion } from '../../domain/workspace/project.js';
import type { Starter } from '../../domain/workspace/starter.js';
import type { Page, SizedItem, VersionPage } from '../shared/ports.js';

export type ProjectVersionEntry = Omit<ProjectVersion, 'spec'>;
export type ModelVersionEntry = Omit<ModelVersion, 'spec'>;
export type DatasetVersionEntry = Omit<DatasetVersion, 'bytes' | 'validation'>;

/** Selects projects. A new filter of the list needs only a field here, and its condition in the adapter. */
export interface ProjectFilter {
  readonly teamId: string;
  /** Only projects with these ids. Null: all. */
  readonly ids?: readonly string[] | null;
  /** A part of the name, in upper or lower case. */
  readonly q?: string | undefined;
}

export interface InProjectFilter {
  readonly projectId: string;
  /** A part of the name, in upper or lower case. Models have the names `name`, `model` and `path` of their specs. */
  readonly q?: string | undefined;
}

export abstract class ProjectRepository {
  abstract add(project: Project): Promise<void>;
  /** Returns null for an unknown id and for a project of another team. */
  abstract find(teamId: string, id: string): Promise<Project | null>;
  abstract all(filter: ProjectFilter, page: Page): Promise<Project[]>;
  /** Returns the sizes of the specs of the projects that `all` returns. */
  abstract sizes(filter: ProjectFilter, page: Page): Promise<SizedItem[]>;
  /** Returns the ids and names of a team's newest projects, newest first, at most `limit`. With `ids`, only those of these. */
  abstract names(
    teamId: string,
    limit: number,
    ids?: readonly string[] | null,
  ): Promise<Pick<Project, 'id' | 'name'>[]>;
  /**
   * Writes `next` and returns true if the stored project still has the version of `current`. Among concurrent calls
   * with the same `current`, exactly one returns true. Keeps the stored `reviewedVersion`.
   */
  abstract replace(current: Project, next: Project): Promise<boolean>;
  /** Stores `reviewedVersion` and returns true if the stored project still has `version`. */
  abstract noteReview(project: Pick<Project, 'id' | 'version' | 'reviewedVersion'>): Promise<boolean>;
  /** Removes the project with everything in it and returns true if the stored project still has `version`. */
  abstract remove(project: Pick<Project, 'id' | 'version'>): Promise<boolean>;
  abstract versions(id: string, page: VersionPage): Promise<ProjectVersionEntry[]>;
  /** Returns null for a version that the project never had. */
  abstract version(id: string, version: number): Promise<ProjectVersion | null>;
}

export abstract class ModelRepository {
  /**
   * Adds the model unless its project has a model with the same `requestId`. Returns the stored model. Among concurrent
   * calls with the same `requestId`, exactly one call adds a model. Throws NotFound if the project is gone.
   */
  abstract addOnce(model: Model): Promise<Model>;
  /** Returns the model that a call with this `requestId` added, or null. */
  abstract findRequested(projectId: string, requestId: string): Promise<Model | null>;
  /** Returns null for an unknown id and for a model of another project. */
  abstract find(projectId: string, id: string): Promise<Model | null>;
  abstract all(filter: InProjectFilter, page: Page): Promise<Model[]>;
  /** Returns the sizes of the specs of the models that `all` returns. */
  abstract sizes(filter: InProjectFilter, page: Page): Promise<SizedItem[]>;
  /** Returns the registered models of these projects, newest first. */
  abstract registered(projectIds: readonly string[]): Promise<Model[]>;
  /** Returns the bytes of the specs of the registered models, by project. Omits projects without registered models. */
  abstract registeredBytes(projectIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Writes `next` and returns true if the stored model still has the version and the state of `current`. Among
   * concurrent calls with the same `current`, exactly one returns true.
   */
  abstract replace(current: Model, next: Model): Promise<boolean>;
  /**
   * Removes the model with its versions and returns true if the stored model still has the version and the state of
   * `current`. Then its `requestId` can be used again.
   */
  abstract remove(current: Model): Promise<boolean>;
  abstract versions(modelId: string, page: VersionPage): Promise<ModelVersionEntry[]>;
  /** Returns null for a version that the model never had. */
  abstract version(modelId: string, version: number): Promise<ModelVersion | null>;
}

/** Stores the changes of aliases. A stored change is never altered, and is removed only with its project. */
export abstract class ModelAliasRepository {
  /**
   * Adds the change and returns true if the alias has no change with this version yet. Among concurrent calls with the
   * same version, exactly one returns true. Throws NotFound if the project or the model is gone.
   */
  abstract append(change: AliasChange): Promise<boolean>;
  /** Returns the newest changes of an alias, newest first, at most `limit`. */
  abstract history(projectId: string, alias: string, limit: number): Promise<AliasChange[]>;
  /** Returns the last change of each alias that points to a model, the newest change first. */
  abstract living(projectId: string): Promise<LivingAlias[]>;
}

export abstract class DatasetRepository {
  /** Adds the dataset with its records and its first version. Throws NotFound if the project is gone. */
  abstract add(dataset: Dataset, records: readonly DatasetRecord[]): Promise<void>;
  /** Returns null for an unknown id and for a dataset of another project. */
  abstract find(projectId: string, id: string): Promise<Dataset | null>;
  /** Reads no records. */
  abstract all(filter: InProjectFilter, page: Page): Promise<Dataset[]>;
  /** Returns the records of a version exactly as they were stored, or null if the dataset does not have the version. */
  abstract records(id: string, version: number): Promise<readonly DatasetRecord[] | null>;
  /**
   * Writes `next` and returns true if the stored dataset still has the version and the state of `current`. Among
   * concurrent calls with the same `current`, exactly one returns true. A new version gets `records`, or the records of
   * `current` if `records` is null.
   */
  abstract replace(current: Dataset, next: Dataset, records: readonly DatasetRecord[] | null): Promise<boolean>;
  /** Removes the dataset and returns true if the stored dataset is editable and still has the version of `current`. */
  abstract remove(current: Dataset): Promise<boolean>;
  abstract versions(id: string, page: VersionPage): Promise<DatasetVersionEntry[]>;
  /** Returns null for a version that the dataset does not have. */
  abstract version(id: string, version: number): Promise<DatasetVersion | null>;
  /** Removes the versions below `oldest`, and the records that only these versions have. */
  abstract prune(id: string, oldest: number): Promise<void>;
}

export abstract class ContentHasher {
  /** Returns the SHA-256 of the joined parts as 64 lower-case hexadecimal digits. Does not block the event loop. */
  abstract hash(parts: Iterable<string>): Promise<string>;
}

/** A project, or a dataset or a model in it. */
export interface FoundObject {
  readonly kind: 'project' | 'dataset' | 'model';
  readonly id: string;
  /** The name of a model is the first text among `name`, `model` and `path` in its spec, or null. */
  readonly name: string | null;
  readonly projectId: string;
  readonly projectName: string;
}

export abstract class WorkspaceSearch {
  /**
   * Finds what has `part` in its name, in upper or lower case: in this order projects, datasets and models, at most `limit`
   * of each, the newest first. Looks at the newest 1,000 projects of the team, and in each at the newest 100 datasets and
   * models. With `projects`, looks only at those of them.
   */
  abstract find(
    teamId: string,
    part: string,
    limit: number,
    projects?: readonly string[] | null,
  ): Promise<FoundObject[]>;
}

/** The catalog of starters, which never changes while the service runs. Its answers are immutable. */
export abstract class StarterCatalog {
  /** Returns all starters, by id. */
  abstract all(): Promise<readonly Starter[]>;
  /** Returns null for an unknown id. */
  abstract find(id: string): Promise<Starter | null>;
}
