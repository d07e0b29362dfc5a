import { injectable } from 'inversify';
import type { AccountCaller } from '../../domain/accounts/caller.js';
import { NotFound } from '../../domain/shared/errors.js';
import type { Model } from '../../domain/workspace/model.js';
import type { Project } from '../../domain/workspace/project.js';
import { ModelRepository, ProjectRepository } from './ports.js';

/** Finds what a caller's team has; whatever another team has looks as if it did not exist. */
@injectable()
export class ProjectModels {
  constructor(
    private readonly projects: ProjectRepository,
    private readonly models: ModelRepository,
  ) {}

  /** Throws NotFound. */
  async project(caller: AccountCaller, projectId: string): Promise<Project> {
    const project = await this.projects.find(caller.teamId, projectId);
    if (!project) throw new NotFound('project');
    return project;
  }

  /** Throws NotFound. */
  async model(caller: AccountCaller, projectId: string, modelId: string): Promise<Model> {
    const project = await this.project(caller, projectId);
    const model = await this.models.find(project.id, modelId);
    if (!model) throw new NotFound('model');
    return model;
  }
}
