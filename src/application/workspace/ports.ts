import type { Dataset, DatasetVersion } from '../../domain/workspace/dataset.js';
import type { CanonicalRecord, DatasetRecord } from '../../domain/workspace/dataset-record.js';
import type { RecordOutline } from '../../domain/workspace/dataset-validation.js';
import type { Model, ModelVersion } from '../../domain/workspace/model.js';
import type { AliasChange, LivingAlias } from '../../domain/workspace/model-alias.js';
import type { Project, ProjectVersion } from '../../domain/workspace/project.js';
import type { Starter } from '../../domain/workspace/starter.js';
import type { HeldMemory } from '../shared/held-memory.js';
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

/** A place in a version of a dataset: `count` records after the first `offset` ones. */
export interface RecordSpan {
  readonly offset: number;
  readonly count: number;
}

/** A span that also has a limit of bytes. */
export interface RecordPart extends RecordSpan {
  readonly bytes: number;
}

/** A record of a version, without its content. */
export interface RecordEntry extends RecordOutline {
  /** Names the stored record in its dataset. A record keeps its number in all versions in which it is the same. */
  readonly number: number;
  /** Counts the records of the version before this one. */
  readonly offset: number;
  readonly group: string | null;
  /** The length of the record as canonical JSON. */
  readonly bytes: number;
  /** The same for records with the same content. Ids and the order of keys do not count. */
  readonly digest: string;
}

/** Selects records of a version. */
export interface RecordFilter {
  /** Only records of this group. Null: those without a group. */
  readonly group?: string | null | undefined;
  /** A part of the id, the group or the JSON of the other values, in upper or lower case. */
  readonly q?: string | undefined;
}

/** A page of entries in the order of the version. */
export interface EntryPage {
  readonly entries: readonly RecordEntry[];
  /** The offset at which the next page begins, or null if no more entries follow. */
  readonly next: number | null;
}

/**
 * Collects the records of a new version in their order. Stores them in steps, unseen by others, until a repository
 * takes the draft into a dataset. What no dataset takes is removed, also after the end of the process.
 */
export interface RecordDraft {
  /** The number of records in the draft. */
  readonly count: number;
  /** The bytes that the draft adds to the store. A record that its dataset has already adds none. */
  readonly bytes: number;
  add(records: readonly CanonicalRecord[]): Promise<void>;
  /** Adds copies of stored records of any dataset. Throws NotFound if one of them was removed. */
  copy(datasetId: string, records: readonly Pick<RecordEntry, 'number' | 'bytes'>[]): Promise<void>;
  /** Gives the draft up. Does nothing if a dataset has taken it. */
  discard(): Promise<void>;
}

export interface MovedContent {
  readonly datasetId: string;
  /** The number of datasets that had something to move. */
  readonly datasets: number;
}

/** Stores the records of datasets. A version is a list of records, and shares most of them with the version before. */
export abstract class RecordRepository {
  /** Returns the entries of a part of a version, or null if the dataset does not have the version. */
  abstract entries(datasetId: string, version: number, span: RecordSpan): Promise<readonly RecordEntry[] | null>;
  /**
   * Returns the records from an offset on: at most `count`, and at most so many bytes or a single longer one. Returns null
   * if the dataset does not have the version.
   */
  abstract records(datasetId: string, version: number, part: RecordPart): Promise<readonly DatasetRecord[] | null>;
  /** Returns the canonical JSON of the records that `records` returns. */
  abstract canonical(datasetId: string, version: number, part: RecordPart): Promise<readonly string[] | null>;
  /** Returns at most `count` entries that match, from an offset on. Returns null if the dataset lacks the version. */
  abstract matching(datasetId: string, version: number, wanted: RecordSpan & RecordFilter): Promise<EntryPage | null>;
  /** Returns the records exactly as they were stored, in the order of the entries. Omits those that were removed. */
  abstract read(datasetId: string, entries: readonly Pick<RecordEntry, 'number'>[]): Promise<readonly DatasetRecord[]>;
  /** Returns the entries of a version with one of these ids, in order. Returns null if the dataset lacks the version. */
  abstract withIds(datasetId: string, version: number, ids: readonly string[]): Promise<readonly RecordEntry[] | null>;
  /** Returns those of the digests that a record of the version has. */
  abstract knownDigests(datasetId: string, version: number, digests: readonly string[]): Promise<ReadonlySet<string>>;
  /** Returns the digest that an entry for the content would have. */
  abstract digestOf(record: Pick<CanonicalRecord, 'content'>): string;
  /**
   * Begins a draft. A record that equals one of the version `base` becomes this stored record. `held` gets the memory of
   * what the draft keeps of these records.
   */
  abstract draft(datasetId: string, base?: number, held?: HeldMemory): Promise<RecordDraft>;
  /**
   * Removes a limited number of records that no version has any more, and abandoned drafts. Returns true if more may be
   * left.
   */
  abstract tidy(): Promise<boolean>;
  /**
   * Moves the records of one version from the form of an earlier release, in which a version was stored as a whole. The
   * version is one of the dataset `last` if that has more of them. Returns null if there is nothing to move.
   */
  abstract moveOne(last: string): Promise<MovedContent | null>;
}

/** New records of a dataset. */
export interface RecordChange {
  readonly draft: RecordDraft;
  /** The records of the version before that the draft replaces. Absent: all. */
  readonly instead?: RecordSpan;
}

export abstract class DatasetRepository {
  /** Adds the dataset with its first version and the records of the draft. Throws NotFound if the project is gone. */
  abstract add(dataset: Dataset, draft: RecordDraft): Promise<void>;
  /** Returns null for an unknown id and for a dataset of another project. */
  abstract find(projectId: string, id: string): Promise<Dataset | null>;
  /** Reads no records. */
  abstract all(filter: InProjectFilter, page: Page): Promise<Dataset[]>;
  /**
   * Writes `next` and returns true if the stored dataset still has the version and the state of `current`. Among
   * concurrent calls with the same `current`, exactly one returns true. A new version gets the changed records, or the
   * records of `current` if `change` is null.
   */
  abstract replace(current: Dataset, next: Dataset, change: RecordChange | null): Promise<boolean>;
  /** Removes the dataset and returns true if the stored dataset is editable and still has the version of `current`. */
  abstract remove(current: Dataset): Promise<boolean>;
  abstract versions(id: string, page: VersionPage): Promise<DatasetVersionEntry[]>;
  /** Returns null for a version that the dataset does not have. */
  abstract version(id: string, version: number): Promise<DatasetVersion | null>;
  /** Stores the digest of a version that has none yet. */
  abstract noteDigest(id: string, version: number, contentSha256: string): Promise<void>;
  /** Removes the versions below `oldest`, and the records that only these versions have. */
  abstract prune(id: string, oldest: number): Promise<void>;
}

/** A digest that grows with its text. */
export interface ContentDigest {
  add(text: string): void;
  /** Returns 64 lower-case hexadecimal digits. */
  end(): string;
}

export abstract class ContentHasher {
  /** Begins a SHA-256. */
  abstract begin(): ContentDigest;
  /** Returns a short text that stands for `text`: no two texts have the same. */
  abstract short(text: string): string;
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
