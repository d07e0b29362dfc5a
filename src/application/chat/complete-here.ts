import { injectable } from 'inversify';
import type { TimedCompletion } from '../../domain/chat/chat.js';
import type { RuntimeCall } from '../processes/ports.js';
import { Clock } from '../shared/ports.js';
import { ChatRuntime } from './ports.js';

/** A chat that the service itself has with a runtime of this process, in the name of an account: it is no job. */
@injectable()
export class CompleteHere {
  constructor(
    private readonly runtimes: ChatRuntime,
    private readonly clock: Clock,
  ) {}

  /** Throws what `ChatRuntimes.complete` throws. */
  async execute({ projectId, request, caller }: RuntimeCall, signal: AbortSignal): Promise<TimedCompletion> {
    let begun = this.clock.now();
    const completion = await this.runtimes.complete(projectId, request, caller, signal, () => {
      begun = this.clock.now();
    });
    return { completion, latency: Math.max(0, this.clock.now().getTime() - begun.getTime()) / 1000 };
  }
}
