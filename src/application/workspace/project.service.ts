import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { KeyScope } from '../../domain/accounts/key-scope.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { Conversation } from '../../domain/chat/conversation.js';
import type { ProjectRuntime } from '../../domain/chat/runtime.js';
import { Recording } from '../../domain/record/recording.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import { specBytes } from '../../domain/shared/storage-quota.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import type { Model } from '../../domain/workspace/model.js';
import { Project, type ProjectContent, type ProjectVersion, requireVersion } from '../../domain/workspace/project.js';
import { requireStarter, type Starter } from '../../domain/workspace/starter.js';
import { Audit } from '../audit/audit.service.js';
import { ConversationRepository } from '../chat/ports.js';
import { RuntimeReconciler } from '../chat/runtime-reconciler.js';
import { StorageQuotas } from '../operations/storage-quotas.js';
import { CallRemoval } from '../record/call-removal.js';
import { Masker } from '../record/ports.js';
import { type Bounded, boundedPage } from '../shared/bounded-page.js';
import type { Reservation, WithMemory } from '../shared/memory-budget.js';
import { Clock, IdGenerator, type Page, type SizedItem, type VersionPage } from '../shared/ports.js';
import { retryWrite } from '../shared/retry-write.js';
import {
  ModelRepository,
  type ProjectFilter,
  ProjectRepository,
  type ProjectVersionEntry,
  StarterCatalog,
} from './ports.js';
import { type Change, found, type InProject, TeamWorkspace } from './team-workspace.js';

/** A project with its registered models and the state of its runtime. */
export interface ProjectOverview {
  readonly project: Project;
  readonly models: readonly Model[];
  readonly runtime: ProjectRuntime;
}

type ProjectPage = Omit<ProjectFilter, 'teamId' | 'ids'> & { readonly page: Page };

interface NewProject extends ProjectContent {
  readonly starterId?: string | undefined;
}

interface ProjectUpdate extends InProject, Change, WithMemory, ProjectContent {
  readonly spec: JsonObject;
}

const LISTED_CONVERSATIONS = 100;

/** Manages projects. Repeats a write if the project changed meanwhile. */
@injectable()
export class ProjectService {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly projects: ProjectRepository,
    private readonly catalog: StarterCatalog,
    private readonly models: ModelRepository,
    private readonly reconciler: RuntimeReconciler,
    private readonly conversations: ConversationRepository,
    private readonly quotas: StorageQuotas,
    private readonly masker: Masker,
    private readonly callRemoval: CallRemoval,
    private readonly audit: Audit,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Returns the starters, sorted by id. */
  async starters(by: Caller | null): Promise<readonly Starter[]> {
    authorize(by, permissions.readWorkspace);
    return this.catalog.all();
  }

  /** Creates a project. A starter sets the spec, and also the name if `content` has no name. Throws InvalidRequest, QuotaExceeded. */
  async create(by: Caller | null, { starterId, ...content }: NewProject): Promise<ProjectOverview> {
    const caller = authorize(by, permissions.createProject);
    const { teamId, accountId } = caller;
    const project = Project.create({
      ...(starterId === undefined ? content : await this.starterContent(starterId, content)),
      id: this.ids.next('prj'),
      teamId,
      createdBy: accountId,
      createdAt: this.clock.now(),
    });
    this.requirePatterns(project);
    const added = { projects: 1, workspaceBytes: specBytes(project) };
    await this.quotas.add(caller, added, () => this.projects.add(project));
    return this.overview(project);
  }

  /** Throws NotFound. */
  async read(by: Caller | null, { memory, ...wanted }: InProject & WithMemory): Promise<ProjectOverview> {
    const project = await this.find(by, wanted);
    await this.reserve(project.id, memory);
    return this.overview(project);
  }

  /** Returns the project without its models and its runtime. Throws NotFound. */
  async find(by: Caller | null, { projectId }: InProject): Promise<Project> {
    return this.workspace.project(authorize(by, permissions.readWorkspace), projectId);
  }

  /** Returns the team's projects, newest first, and the caller's own conversations, latest turn first. */
  async list(
    by: Caller | null,
    { page, memory, ...filter }: WithMemory & ProjectPage,
  ): Promise<{ projects: Bounded<ProjectOverview>; conversations: readonly Conversation[] }> {
    const caller = authorize(by, permissions.readWorkspace);
    const { teamId, accountId } = caller;
    const ids = KeyScope.projectsOf(caller);
    const [{ items, more }, conversations] = await Promise.all([
      boundedPage(page, {
        sizes: (part) => this.sizes({ ...filter, teamId, ids }, part),
        fetch: (part) => this.projects.all({ ...filter, teamId, ids }, part),
        memory,
      }),
      this.conversations.recent(accountId, teamId, LISTED_CONVERSATIONS, ids),
    ]);
    return { projects: { items: await this.overviews(items), more }, conversations };
  }

  /** Throws NotFound, InvalidRequest, StaleVersion, QuotaExceeded. */
  async update(
    by: Caller | null,
    { projectId, expected, signal, memory, ...content }: ProjectUpdate,
  ): Promise<ProjectOverview> {
    const caller = authorize(by, permissions.editWorkspace);
    this.requirePatterns(content);
    const updated = await retryWrite(signal, async () => {
      const current = await this.workspace.project(caller, projectId);
      const next = Project.update(current, expected, { ...content, by: caller.accountId, at: this.clock.now() });
      await this.reserve(projectId, memory);
      const added = { workspaceBytes: specBytes(next) };
      return this.quotas.add(caller, added, async () => (await this.projects.replace(current, next)) && next);
    });
    return this.overview(updated);
  }

  /** Removes the project with everything in it, and stops its runtime. Throws NotFound, StaleVersion. */
  async delete(by: Caller | null, { projectId, expected, signal }: InProject & Change): Promise<void> {
    const caller = authorize(by, permissions.deleteProject);
    await retryWrite(signal, async () => {
      const current = await this.workspace.project(caller, projectId);
      requireVersion(current, expected);
      const act = { by: caller, action: 'project.deleted', object: current } as const;
      return this.reconciler.apply(projectId, () => this.audit.perform(act, () => this.remove(current)));
    });
  }

  /** Must be called inside a unit of work. */
  private async remove(project: Project): Promise<boolean> {
    const isRemoved = await this.projects.remove(project);
    if (isRemoved) await this.callRemoval.after({ projectId: project.id });
    return isRemoved;
  }

  /** Returns the versions, newest first. Throws NotFound. */
  async versions(
    by: Caller | null,
    { page, ...wanted }: InProject & { page: VersionPage },
  ): Promise<ProjectVersionEntry[]> {
    const project = await this.find(by, wanted);
    return this.projects.versions(project.id, page);
  }

  /** Throws NotFound. */
  async version(by: Caller | null, { version, ...wanted }: InProject & { version: number }): Promise<ProjectVersion> {
    const project = await this.find(by, wanted);
    return found('version', await this.projects.version(project.id, version));
  }

  /** Throws InvalidRequest if the masker cannot run a pattern of the recording settings. */
  private requirePatterns({ spec }: { readonly spec: JsonObject }): void {
    Recording.requirePatterns(spec, (pattern) => this.masker.problem(pattern));
  }

  private async starterContent(starterId: string, content: ProjectContent): Promise<ProjectContent> {
    const message = 'must be absent with a starter, which has its own spec: change the spec afterwards';
    if (content.spec !== undefined) throw new InvalidRequest([{ path: 'spec', message }]);
    const starter = requireStarter(await this.catalog.find(starterId));
    return { ...content, name: content.name ?? starter.name, spec: starter.spec };
  }

  /** Returns the sizes of the specs of projects, each with the specs of its registered models. */
  private async sizes(filter: ProjectFilter, page: Page): Promise<SizedItem[]> {
    const projects = await this.projects.sizes(filter, page);
    const registered = await this.models.registeredBytes(projects.map(({ id }) => id));
    return projects.map(({ id, bytes }) => ({ id, bytes: bytes + (registered.get(id) ?? 0) }));
  }

  /** Reserves memory for the specs of registered models. Must be called before a write, because it can throw. */
  private async reserve(projectId: string, memory: Reservation): Promise<void> {
    await memory.reserve((await this.models.registeredBytes([projectId])).get(projectId) ?? 0);
  }

  private async overview(project: Project): Promise<ProjectOverview> {
    return (await this.overviews([project]))[0] as ProjectOverview;
  }

  /** Returns the overviews in the order of the projects. Makes the same number of queries for one or many projects. */
  private async overviews(projects: readonly Project[]): Promise<ProjectOverview[]> {
    const ids = projects.map(({ id }) => id);
    const [models, runtimes] = await Promise.all([this.models.registered(ids), this.reconciler.states(ids)]);
    const byProject = new Map<string, Model[]>(ids.map((id) => [id, []]));
    for (const model of models) byProject.get(model.projectId)?.push(model);
    return projects.map((project, index) => ({
      project,
      models: byProject.get(project.id) as Model[],
      runtime: runtimes[index] as ProjectRuntime,
    }));
  }
}
