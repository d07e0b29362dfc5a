import { injectable } from 'inversify';
import type { ProjectRuntime } from '../../domain/chat/runtime.js';
import type { Model } from '../../domain/workspace/model.js';
import type { Project } from '../../domain/workspace/project.js';
import { RuntimeStates } from '../chat/runtime-states.js';
import { ModelRepository } from './ports.js';

/** A project with what hangs on it: its registered models and the state of its runtime. */
export interface ProjectOverview {
  readonly project: Project;
  readonly models: readonly Model[];
  readonly runtime: ProjectRuntime;
}

@injectable()
export class ProjectOverviews {
  constructor(
    private readonly models: ModelRepository,
    private readonly runtimes: RuntimeStates,
  ) {}

  async of(project: Project): Promise<ProjectOverview> {
    const [models, runtime] = await Promise.all([this.models.registered([project.id]), this.runtimes.of(project.id)]);
    return { project, models, runtime };
  }

  /** In the order of the projects, with as many queries as for one. */
  async ofAll(projects: readonly Project[]): Promise<ProjectOverview[]> {
    const ids = projects.map(({ id }) => id);
    const [models, runtimes] = await Promise.all([this.models.registered(ids), this.runtimes.ofAll(ids)]);
    const byProject = new Map<string, Model[]>(ids.map((id) => [id, []]));
    for (const model of models) byProject.get(model.projectId)?.push(model);
    return projects.map((project, index) => ({
      project,
      models: byProject.get(project.id) ?? [],
      runtime: runtimes[index] as ProjectRuntime,
    }));
  }
}
