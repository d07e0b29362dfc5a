import { injectable } from 'inversify';
import { AnswerAssembly, type AnswerStep, type ResponsePart } from '../../domain/chat/answer-assembly.js';
import { FollowedTooLong } from '../../domain/chat/errors.js';
import { Response } from '../../domain/chat/response.js';
import type { WithMemory } from '../shared/memory-budget.js';
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
   * the same steps. Throws NotFound when the response is deleted, and FollowedTooLong at `until`.
   */
  async *steps(
    key: ResponseKey,
    { memory, signal, until }: WithMemory & { readonly signal: AbortSignal; readonly until: number },
  ): AsyncGenerator<ResponseStep, void> {
    const answer = new AnswerAssembly();
    let isRunning = false;
    let last = 0;
    let pause = FIRST_PAUSE_MS;
    for (;;) {
      signal.throwIfAborted();
      if (this.clock.now().getTime() >= until) throw new FollowedTooLong();
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
        await memory.grow(head.bytes);
        yield { step: 'finished', response: found('response', await this.responses.find(key)) };
        return;
      }
      if (batches.length > 0) continue;
      await this.clock.pause(pause, signal);
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
    }
  }

  /** Returns the items of the stored parts. The caller has reserved memory for them. */
  async outputSoFar(id: string): Promise<Response['output']> {
    const answer = new AnswerAssembly();
    for await (const part of this.parts(id)) for (const _ of answer.add(part));
    for (const _ of answer.end(false));
    return answer.items;
  }

  /** Yields the parts that are stored now. */
  async *parts(id: string): AsyncGenerator<ResponsePart, void> {
    let last = 0;
    for (;;) {
      const batches = await this.responses.batches(id, last, BATCHES_AT_ONCE);
      for (const { number, parts } of batches) {
        yield* parts;
        last = number;
      }
      if (batches.length < BATCHES_AT_ONCE) return;
    }
  }
}
