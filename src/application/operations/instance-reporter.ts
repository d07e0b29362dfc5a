import { injectable } from 'inversify';
import { RuntimeId } from '../../domain/chat/target.js';
import { ChatRuntimes } from '../chat/ports.js';
import { ModelServer } from '../deployments/ports.js';
import { InstanceRegistry } from '../jobs/ports.js';
import { Instance } from '../shared/instance.js';
import { Clock } from '../shared/ports.js';
import {
  type InstanceReport,
  InstanceReports,
  instanceLimits,
  type NumberedReport,
  type ReportedDeployment,
  type ReportedRuntime,
  ServiceProcess,
} from './ports.js';

/** A living instance. `answering` is true for the instance that was asked. */
export interface LivingInstance extends InstanceReport {
  readonly answering: boolean;
}

/** Tells the other instances about this one, and lists all. */
@injectable()
export class InstanceReporter {
  private readonly since: Date;
  /** The number of this instance. Before the first report it is null. */
  private number: number | null = null;
  /** The statuses at the last report. */
  private deployments: readonly ReportedDeployment[] = [];

  constructor(
    private readonly reports: InstanceReports,
    private readonly registry: InstanceRegistry,
    private readonly instance: Instance,
    private readonly process: ServiceProcess,
    private readonly runtimes: ChatRuntimes,
    private readonly servers: ModelServer,
    clock: Clock,
  ) {
    this.since = clock.now();
  }

  /** Probes the deployments, and stores the report of this instance. Must be called every few seconds. */
  async report(): Promise<void> {
    const number = await this.registry.own();
    this.deployments = await this.probed();
    await this.reports.save({ number, ...this.own(null, instanceLimits.reported) });
    this.number = number;
  }

  /**
   * Lists the living instances, the oldest first, with one statement. Each has its runtimes of the projects, or for null
   * of all projects, at most `instanceLimits.listed`. This instance is always in the list, as it is now, with its
   * deployments as they were at the last report. An instance that died without a word is in the list for at most
   * `instanceLimits.livesMs` after its last report.
   */
  async living(projects: readonly string[] | null): Promise<LivingInstance[]> {
    const stored: NumberedReport[] = await this.reports.living(projects);
    const others = stored.filter(({ number }) => number !== this.number);
    const own = { ...this.own(projects, instanceLimits.listed), answering: true };
    const all = [...others.map((one) => ({ ...one, answering: false })), own];
    return all.sort((a, b) => a.since.getTime() - b.since.getTime());
  }

  /** Removes this instance from the lists of the others. After a failure, its report expires. */
  async leave(): Promise<void> {
    if (this.number !== null) await this.reports.remove(this.number).catch(() => undefined);
  }

  private own(projects: readonly string[] | null, most: number): InstanceReport {
    const { name, loading, draining } = this.instance;
    const runtimes = [...this.runtimes.figures()].map(([id, { waiting }]) => this.runtime(id, waiting));
    const asked = projects && new Set(projects);
    const shown = runtimes.filter(({ projectId }) => asked?.has(projectId) ?? true);
    return {
      name,
      version: this.process.version,
      since: this.since,
      state: draining ? 'draining' : loading ? 'starting' : 'ready',
      runtimes: shown.sort(newestFirst).slice(0, most),
      deployments: this.deployments,
      waitingCalls: runtimes.reduce((sum, { waiting }) => sum + waiting, 0),
      memoryBytes: this.process.memoryBytes(),
    };
  }

  private runtime(id: string, waiting: number): ReportedRuntime {
    const { project: projectId, model: modelId } = RuntimeId.parts(id);
    return { projectId, modelId, state: this.runtimes.status(id).state, waiting };
  }

  /** Leaves out engines elsewhere: they run on no instance, and a probe could wake one up. */
  private probed(): Promise<ReportedDeployment[]> {
    const ids = this.servers.ids('local');
    return Promise.all(ids.map(async (id) => ({ id, status: (await this.servers.probe(id)).status })));
  }
}

const newestFirst = (a: ReportedRuntime, b: ReportedRuntime): number =>
  compared(b.projectId, a.projectId) || compared(a.modelId, b.modelId);

const compared = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
