import { injectable } from 'inversify';
import type { AccountCaller } from '../../domain/accounts/caller.js';
import { KeyScope } from '../../domain/accounts/key-scope.js';
import { NotFound } from '../../domain/shared/errors.js';
import type { Dataset } from '../../domain/workspace/dataset.js';
import type { Model } from '../../domain/workspace/model.js';
import type { Project } from '../../domain/workspace/project.js';
import { DatasetRepository, ModelRepository, ProjectRepository } from './ports.js';

export interface InProject {
  readonly projectId: string;
}

export interface OfModel extends InProject {
  readonly modelId: string;
}

export interface OfDataset extends InProject {
  readonly datasetId: string;
}

/** The part of the arguments that is the same for every change of a versioned object. */
export interface Change {
  /** The versions that the caller takes for the current one. The change throws StaleVersion if one of them is not. */
  readonly expected: readonly number[];
  /** Aborts when the caller disconnects or loses the permission. Then a write that lost against another call is not repeated. */
  readonly signal: AbortSignal;
}

/** Finds the projects, models and datasets of the caller's team. */
@injectable()
export class TeamWorkspace {
  constructor(
    private readonly projects: ProjectRepository,
    private readonly models: ModelRepository,
    private readonly datasets: DatasetRepository,
  ) {}

  /** Throws KeyRestricted, and NotFound, also for a project of another team. */
  async project(caller: AccountCaller, projectId: string): Promise<Project> {
    KeyScope.requireProject(caller, projectId);
    return found('project', await this.projects.find(caller.teamId, projectId));
  }

  /** Throws NotFound. */
  async model(caller: AccountCaller, projectId: string, modelId: string): Promise<Model> {
    const project = await this.project(caller, projectId);
    return found('model', await this.models.find(project.id, modelId));
  }

  /** Throws NotFound. */
  async dataset(caller: AccountCaller, projectId: string, datasetId: string): Promise<Dataset> {
    const project = await this.project(caller, projectId);
    return found('dataset', await this.datasets.find(project.id, datasetId));
  }
}

/** Returns `object`. Throws NotFound if it is null. */
export function found<T>(kind: string, object: T | null): T {
  if (object === null) throw new NotFound(kind);
  return object;
}
