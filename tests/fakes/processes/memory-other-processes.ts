import type { ModelStates, OtherProcesses, RuntimeCall } from '../../../src/application/processes/ports.js';
import type { TimedCompletion } from '../../../src/domain/chat/chat.js';

import { RefusedElsewhere } from '../../../src/domain/processes/errors.js';
import { DomainError } from '../../../src/domain/shared/errors.js';

/** What a process answers when it is asked. */
export interface AskedProcess {
  states(ids: readonly string[]): Promise<ModelStates>;
  settle(id: string): Promise<void>;
  complete(call: RuntimeCall, signal: AbortSignal): Promise<TimedCompletion>;
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

  async complete(process: number, call: RuntimeCall, signal: AbortSignal): Promise<TimedCompletion | null> {
    try {
      return (await this.reachable.get(process)?.complete(call, signal)) ?? null;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof DomainError) throw new RefusedElsewhere(error);
      return null;
    }
  }
}
