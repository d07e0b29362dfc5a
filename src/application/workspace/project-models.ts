import type { AccountCaller } from '../../domain/access/caller.js';
import { NotFound } from '../../domain/shared/errors.js';
import type { Model } from '../../domain/workspace/model.js';
import type { Project } from '../../domain/workspace/project.js';
import type { Models } from './ports/models.js';
import type { Projects } from './ports/projects.js';

/** Finds what a caller's team has; whatever another team has looks as if it did not exist. */
export class ProjectModels {
  constructor(
    private readonly projects: Projects,
    private readonly models: Models,
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
