import { injectable } from 'inversify';
import { AnswerAssembly, type AnswerStep } from '../../domain/chat/answer-assembly.js';
import { Response } from '../../domain/chat/response.js';
import type { Reservation, WithMemory } from '../shared/memory-budget.js';
import { Clock } from '../shared/ports.js';
import { found } from '../workspace/team-workspace.js';
import { type ResponseKey, ResponseRepository } from './ports.js';

/** `running`: the model begins. `finished`: the response has ended, and no step follows. */
export type ResponseStep =
  | AnswerStep
  | { readonly step: 'running' }
  | { readonly step: 'finished'; readonly response: Response };

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;
const BATCHES_AT_ONCE = 20;

/** Reads responses in the background from the database, while any instance makes their answers. */
@injectable()
export class ResponseReader {
  constructor(
    private readonly responses: ResponseRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Yields the steps of a response from its beginning, and waits for further ones until it has ended. Each reader gets
   * the same steps. Throws NotFound when the response is deleted.
   */
  async *steps(
    key: ResponseKey,
    { memory, signal }: WithMemory & { readonly signal: AbortSignal },
  ): AsyncGenerator<ResponseStep, void> {
    const answer = new AnswerAssembly();
    let isRunning = false;
    let last = 0;
    let pause = FIRST_PAUSE_MS;
    for (;;) {
      signal.throwIfAborted();
      // The status is read first, so that no batch of a response that has ended is missed.
      const head = found('response', await this.responses.head(key));
      const batches = await this.responses.batches(key.id, last, BATCHES_AT_ONCE);
      const hasBegun = head.hasBegun || batches.length > 0; // it may have begun after the status was read
      if (!isRunning && hasBegun) yield { step: 'running' };
      isRunning = hasBegun;
      for (const { number, parts } of batches) {
        for (const part of parts) yield* answer.add(part);
        last = number;
      }
      if (batches.length > 0) {
        await memory.growBytes(answer.bytes);
        pause = FIRST_PAUSE_MS;
        if (batches.length === BATCHES_AT_ONCE) continue;
      }
      if (!Response.isOpen(head)) {
        yield* answer.end(head.status === 'completed');
        yield { step: 'finished', response: found('response', await this.responses.find(key)) };
        return;
      }
      if (batches.length > 0) continue;
      await this.clock.pause(pause, signal);
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
    }
  }

  /** Returns the items of a response that is still open. */
  async outputSoFar({ id }: ResponseKey, memory: Reservation): Promise<Response['output']> {
    const answer = new AnswerAssembly();
    let last = 0;
    for (;;) {
      const batches = await this.responses.batches(id, last, BATCHES_AT_ONCE);
      for (const { number, parts } of batches) {
        for (const part of parts) for (const _ of answer.add(part));
        last = number;
      }
      if (batches.length < BATCHES_AT_ONCE) break;
      await memory.growBytes(answer.bytes);
    }
    for (const _ of answer.end(false));
    return answer.items;
  }
}
