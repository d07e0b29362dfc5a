import type { ModelStates, OtherProcesses } from '../../../application/processes/ports/other-processes.js';

/** What a process answers when it is asked. */
export interface AskedProcess {
  states(ids: readonly string[]): Promise<ModelStates>;
  settle(id: string): Promise<void>;
}

/** For unit tests: those that are entered here can be asked. */
export class MemoryOtherProcesses implements OtherProcesses {
  readonly reachable = new Map<number, AskedProcess>();

  async states(process: number, ids: readonly string[]): Promise<ModelStates | null> {
    return (
      (await this.reachable
        .get(process)
        ?.states(ids)
        .catch(() => null)) ?? null
    );
  }

  async settle(process: number, id: string): Promise<boolean> {
    const asked = this.reachable.get(process);
    if (!asked) return false;
    return asked.settle(id).then(
      () => true,
      () => false,
    );
  }
}
