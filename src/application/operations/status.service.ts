import { injectable } from 'inversify';
import type { AccountCaller, Caller } from '../../domain/accounts/caller.js';
import { KeyScope } from '../../domain/accounts/key-scope.js';
import {
  authorize,
  awaitingVerification,
  type PermissionName,
  permissions,
  permitted,
} from '../../domain/accounts/permission.js';
import type { ProjectRuntime } from '../../domain/chat/runtime.js';
import type { Project } from '../../domain/workspace/project.js';
import { Mailer, type MailRoute } from '../accounts/ports.js';
import { RuntimeReconciler } from '../chat/runtime-reconciler.js';
import { ModelFileService } from '../deployments/model-file.service.js';
import { ProjectRepository } from '../workspace/ports.js';
import { InstanceReporter, type LivingInstance } from './instance-reporter.js';
import { StorageQuotas, type StoredAmounts } from './storage-quotas.js';

export interface Status {
  readonly caller: Caller;
  readonly may: Readonly<Record<PermissionName, boolean>>;
  readonly awaitingVerification: readonly PermissionName[];
  readonly mail: MailRoute;
  /** The runtimes of the team's newest projects, newest first. Empty for the master key. */
  readonly runtimes: readonly NamedRuntime[];
  /**
   * The living instances, the oldest first. Callers see in them the runtimes that `runtimes` has, the master key those of
   * all teams. Callers who may not read the monitoring see no deployments.
   */
  readonly instances: readonly LivingInstance[];
  /** The stored amounts of the caller's account and team. Only operators get `uploadBytes`. */
  readonly storage: StoredAmounts;
}

export interface NamedRuntime extends ProjectRuntime {
  readonly project: NamedProject;
}

type NamedProject = Pick<Project, 'id' | 'name'>;

const PROJECTS = 1_000;

@injectable()
export class StatusService {
  constructor(
    private readonly projects: ProjectRepository,
    private readonly runtimes: RuntimeReconciler,
    private readonly reporter: InstanceReporter,
    private readonly quotas: StorageQuotas,
    private readonly modelFiles: ModelFileService,
    private readonly mailer: Mailer,
  ) {}

  /**
   * Returns the caller, the caller's permissions, the chat runtimes and stored amounts of the caller's team, and the
   * living instances.
   */
  async read(by: Caller | null): Promise<Status> {
    const caller = authorize(by, permissions.readStatus);
    const may = permitted(caller);
    const uploads = may.readMonitoring ? this.modelFiles.storedBytes() : null;
    const projects = caller.kind === 'master' ? [] : await this.projectsOf(caller);
    const [runtimes, own, living] = await Promise.all([
      this.runtimesOf(projects),
      this.quotas.stored(caller),
      this.reporter.living(may.readMetrics ? null : projects.map(({ id }) => id)),
    ]);
    const instances = living.map((one) => ({ ...one, deployments: may.readMonitoring ? one.deployments : [] }));
    const uploadBytes = uploads === null ? undefined : this.quotas.amount('uploadBytes', uploads);
    return {
      caller,
      may,
      awaitingVerification: awaitingVerification(caller),
      mail: this.mailer.route,
      runtimes,
      instances,
      storage: { ...own, ...(uploadBytes && { uploadBytes }) },
    };
  }

  private projectsOf(caller: AccountCaller): Promise<NamedProject[]> {
    return this.projects.names(caller.teamId, PROJECTS, KeyScope.projectsOf(caller));
  }

  private async runtimesOf(projects: readonly NamedProject[]): Promise<NamedRuntime[]> {
    const runtimes = await this.runtimes.states(projects.map(({ id }) => id));
    return runtimes.map((runtime, at) => ({ ...runtime, project: projects[at] as NamedProject }));
  }
}
