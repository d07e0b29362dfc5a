import { injectable } from 'inversify';
import type { ProjectRuntime, RuntimeStatus } from '../../domain/chat/runtime.js';
import { NotFound } from '../../domain/shared/errors.js';
import { Ownership } from '../processes/ownership.js';
import { type ModelStates, OtherProcesses } from '../processes/ports.js';
import { ChatRuntime, type RuntimeConnection, RuntimeConnectionRepository } from './ports.js';
import { SettleRuntime } from './settle-runtime.js';

/** What a project's runtime is right now: what is stored of it, and what runs, here or in the process whose it is. */
@injectable()
export class RuntimeStates {
  constructor(
    private readonly connections: RuntimeConnectionRepository,
    private readonly runtimes: ChatRuntime,
    private readonly runtime: SettleRuntime,
    private readonly ownership: Ownership,
    private readonly others: OtherProcesses,
  ) {}

  async of(projectId: string): Promise<ProjectRuntime> {
    return (await this.judge([projectId], [await this.connections.find(projectId)]))[0] as ProjectRuntime;
  }

  /** In the order of the projects. */
  async ofAll(projectIds: readonly string[]): Promise<ProjectRuntime[]> {
    const connections = new Map((await this.connections.ofProjects(projectIds)).map((one) => [one.projectId, one]));
    return this.judge(
      projectIds,
      projectIds.map((id) => connections.get(id) ?? null),
    );
  }

  /**
   * By a single question, since every chat asks it; a runtime that is another process's is not looked at, and is given
   * as that process's number. Throws NotFound where the team has no such project.
   */
  async ofTeam(teamId: string, projectId: string): Promise<ProjectRuntime | number> {
    const found = await this.connections.ofProject(projectId);
    if (found?.teamId !== teamId) throw new NotFound('project');
    const { connection } = found;
    const process = connection?.wanted === 'started' ? connection.process : null;
    const isElsewhere = process !== null && process !== (await this.ownership.own());
    return isElsewhere ? process : this.own(projectId, connection);
  }

  /** Of a runtime that is this process's. */
  here(projectId: string): RuntimeStatus {
    const { state, reason } = this.runtimes.status(projectId);
    if (state !== 'stopped') return { state, reason };
    if (this.runtime.isSettling(projectId)) return { state: 'loading', reason: null };
    const failure = this.runtime.failure(projectId);
    // Where nothing was tried here yet, it is about to be.
    return failure === null ? { state: 'loading', reason: null } : { state: 'unavailable', reason: failure };
  }

  private async judge(
    ids: readonly string[],
    connections: readonly (RuntimeConnection | null)[],
  ): Promise<ProjectRuntime[]> {
    const own = await this.ownership.own();
    const elsewhere = new Map<number, string[]>();
    for (const one of connections) {
      if (one?.wanted !== 'started' || one.process === null || one.process === own) continue;
      elsewhere.set(one.process, [...(elsewhere.get(one.process) ?? []), one.projectId]);
    }
    const asked = [...elsewhere].map(
      async ([process, ids]) => [process, await this.others.states(process, ids)] as const,
    );
    const answers = new Map(await Promise.all(asked));
    return Promise.all(
      connections.map((one, index) => {
        const states = one?.process == null ? undefined : answers.get(one.process);
        const id = ids[index] as string;
        return one && states !== undefined ? this.told(one, states) : this.own(id, one);
      }),
    );
  }

  /** As the process says whose it is; null where that could not be asked. */
  private async told({ projectId, modelId, process }: RuntimeConnection, states: ModelStates | null) {
    const status = states?.runtimes[projectId];
    if (status) return { modelId, process, ...status };
    const name = await this.ownership.nameOf(process);
    const lives = process !== null && (await this.ownership.lives(process));
    const reason = lives
      ? `the process ${name} of the service, which runs it, cannot be asked`
      : `the process ${name} of the service has ended, and another is about to take it`;
    return { modelId, process, state: 'unavailable', reason } as const;
  }

  /** Of a runtime that is this process's, or nobody's. */
  private own(projectId: string, connection: RuntimeConnection | null): ProjectRuntime {
    const { modelId = null, process = null } = connection ?? {};
    if (connection?.wanted === 'started') return { modelId, process, ...this.here(projectId) };
    if (this.runtimes.status(projectId).state !== 'stopped') this.settle(projectId);
    return { state: connection ? 'stopped' : 'not_connected', modelId, process, reason: null };
  }

  /** Another process has changed the connection, and the one that runs here does not know yet. */
  private settle(projectId: string): void {
    if (!this.runtime.isSettling(projectId)) this.runtime.settleHere(projectId).catch(() => undefined);
  }
}
