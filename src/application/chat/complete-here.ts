import type { TimedCompletion } from '../../domain/chat/chat.js';
import type { RuntimeCall } from '../processes/ports/other-processes.js';
import type { Clock } from '../shared/ports/clock.js';
import type { ChatRuntimes } from './ports/chat-runtimes.js';

/** A chat that the service itself has with a runtime of this process, in the name of an account: it is no job. */
export class CompleteHere {
  constructor(
    private readonly runtimes: ChatRuntimes,
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
