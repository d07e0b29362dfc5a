import { injectable } from 'inversify';
import type { ChatRequest, Completion, CompletionPart } from '../../domain/chat/chat.js';
import type { EmbeddingRequest, Embeddings } from '../../domain/chat/embedding.js';
import {
  InferenceTimeout,
  RuntimeInvalidResponse,
  RuntimeStopped,
  RuntimeUnavailable,
} from '../../domain/chat/errors.js';
import { codeOf, isFaultOfModel } from '../../domain/chat/failure.js';
import { RuntimeId, Targets } from '../../domain/chat/target.js';
import { ANSWERED, type Attempts, CANCELLED } from '../../domain/jobs/attempt.js';
import { DomainError } from '../../domain/shared/errors.js';
import { Chance, Clock, ServiceSettings } from '../shared/ports.js';
import { Breakers } from './breakers.js';
import { ChatRuntimes, type CountCall, type RuntimeCall } from './ports.js';
import { RuntimeReconciler } from './runtime-reconciler.js';

export interface TargetCall extends RuntimeCall {
  /** Gets the attempts of the call. */
  readonly attempts?: Attempts;
}

/**
 * Runs the calls of a project on its targets. This class is the only place that repeats a call within its request.
 *
 * - Tries the targets that are ready and that their breakers admit, one after another, until one has content. A target
 *   that fails, is busy, or has no content in its share of the time is followed by the next one. The share is what is left
 *   of the time for the call, divided by the targets that are left.
 * - Repeats nothing after the first part of a stream, for a request that the first target has refused as wrong, or after
 *   the caller has left.
 * - Throws the failure of the last target. Throws the refusal of a fallback if no target failed. Throws RuntimeUnavailable with a time to wait if no breaker admits a target.
 *
 * Otherwise each method promises the same as the method of ChatRuntimes with the same name.
 */
@injectable()
export class TargetCalls {
  constructor(
    private readonly reconciler: RuntimeReconciler,
    private readonly runtimes: ChatRuntimes,
    private readonly breakers: Breakers,
    private readonly chance: Chance,
    private readonly clock: Clock,
    private readonly settings: ServiceSettings,
  ) {}

  complete(projectId: string, request: ChatRequest, call: TargetCall): Promise<Completion> {
    return this.whole(projectId, call, (id, own) => this.runtimes.complete(id, request, own));
  }

  embed(projectId: string, request: EmbeddingRequest, call: TargetCall): Promise<Embeddings> {
    return this.whole(projectId, call, (id, own) => this.runtimes.embed(id, request, own));
  }

  async *stream(projectId: string, request: ChatRequest, call: TargetCall): AsyncIterable<CompletionPart> {
    const tries = this.tries(projectId, call);
    for (;;) {
      const one = tries.next();
      try {
        for await (const part of this.runtimes.stream(one.id, request, one.call)) {
          one.began();
          if (part.end) one.answered();
          yield part;
          if (part.end) return;
        }
        throw new RuntimeInvalidResponse('its answer has no end.');
      } catch (error) {
        one.failed(error);
      } finally {
        one.left();
      }
    }
  }

  /** Returns at least the number of tokens that any target that is ready counts. Throws if all refuse the prompt. */
  boundTokens(projectId: string, request: ChatRequest, call: CountCall): Promise<number> {
    return this.bound(projectId, (id) => this.runtimes.boundTokens(id, request, call));
  }

  /** Promises the same as `boundTokens` about the tokens of texts. */
  boundTextTokens(projectId: string, request: EmbeddingRequest, call: CountCall): Promise<number> {
    return this.bound(projectId, (id) => this.runtimes.boundTextTokens(id, request, call));
  }

  private async bound(projectId: string, count: (id: string) => Promise<number>): Promise<number> {
    const ids = Targets.ids(this.targetsOf(projectId)).map((modelId) => RuntimeId.of(projectId, modelId));
    const ready = ids.filter((id) => this.runtimes.status(id).state === 'ready');
    const asked = ready.length > 0 ? ready : ids.slice(0, 1);
    const bounds = await Promise.allSettled(asked.map(count));
    const known = bounds.flatMap((bound) => (bound.status === 'fulfilled' ? [bound.value] : []));
    if (known.length === 0) throw (bounds[0] as PromiseRejectedResult).reason;
    return Math.max(...known);
  }

  /** Counts with the first target that is ready. */
  async countTokens(projectId: string, request: ChatRequest, call: CountCall): Promise<number> {
    const ids = Targets.ids(this.targetsOf(projectId)).map((modelId) => RuntimeId.of(projectId, modelId));
    const id = ids.find((one) => this.runtimes.status(one).state === 'ready') ?? (ids[0] as string);
    return this.runtimes.countTokens(id, request, call);
  }

  private async whole<T>(
    projectId: string,
    call: TargetCall,
    ask: (id: string, call: RuntimeCall) => Promise<T>,
  ): Promise<T> {
    const tries = this.tries(projectId, call);
    for (;;) {
      const one = tries.next();
      try {
        const answer = await ask(one.id, one.call);
        one.answered();
        return answer;
      } catch (error) {
        one.failed(error);
      }
    }
  }

  private tries(projectId: string, call: TargetCall): Tries {
    const order = Targets.order(this.targetsOf(projectId), this.chance.draw());
    const targets = order.map((modelId) => ({ modelId, id: RuntimeId.of(projectId, modelId) }));
    const { runtimes, breakers, clock, settings } = this;
    return new Tries(targets, call, { runtimes, breakers, clock, timeoutMs: settings.inferenceTimeoutMs });
  }

  /** Throws RuntimeStopped if this instance runs no model for the project. */
  private targetsOf(projectId: string): Targets {
    const targets = this.reconciler.targets(projectId);
    if (!targets) throw new RuntimeStopped();
    return targets;
  }
}

interface Target {
  readonly modelId: string;
  readonly id: string;
}

interface Tools {
  readonly runtimes: ChatRuntimes;
  readonly breakers: Breakers;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** An attempt of one target. Only its first end counts. */
interface Trying {
  readonly id: string;
  readonly call: RuntimeCall;
  /** Takes a part of the answer. From the first one on, the target has all the time that is left. */
  began(): void;
  answered(): void;
  /** Takes the failure. Throws the error for the caller, unless another target may answer the call. */
  failed(error: unknown): void;
  /** Takes the end of an attempt whose reader has left. */
  left(): void;
}

/** The attempts of one call. */
class Tries {
  private readonly until: number;
  private waiting: readonly Target[];
  private wasAdmitted = false;
  private hasTried = false;
  /** The failure of the target that was tried last. */
  private failure: unknown = null;

  constructor(
    private readonly targets: readonly Target[],
    private readonly call: TargetCall,
    private readonly tools: Tools,
  ) {
    this.waiting = targets;
    this.until = this.now + tools.timeoutMs;
  }

  /** Begins the next attempt. Throws the error for the caller if no target is left. */
  next(): Trying {
    const { breakers, runtimes } = this.tools;
    const ready = this.waiting.filter(({ id }) => runtimes.status(id).state === 'ready');
    const admitted = ready.filter(({ id }) => breakers.admits(id));
    const leftMs = this.until - this.now;
    if (this.failure !== null && (admitted.length === 0 || leftMs <= 0)) throw this.failure;
    if (admitted.length === 0 && (ready.length > 0 || this.hasTried)) throw this.refusal(ready);
    // Without a ready target, the runtime itself says why.
    const target = admitted[0] ?? (this.waiting[0] as Target);
    this.waiting = this.waiting.filter((one) => one !== target);
    const isOnly = admitted.length <= 1 && !this.hasTried;
    this.hasTried = true;
    return this.begin(target, isOnly ? null : leftMs / Math.max(1, admitted.length));
  }

  /** `shareMs` is the time until the first content. If it is null, the runtime alone limits the time. */
  private begin({ id, modelId }: Target, shareMs: number | null): Trying {
    const { call } = this;
    const { breakers } = this.tools;
    const late = new AbortController();
    const expire = () => late.abort(new InferenceTimeout(this.tools.timeoutMs / 1_000));
    const timer = shareMs === null ? undefined : setTimeout(expire, shareMs);
    const signal = shareMs === null ? call.signal : AbortSignal.any([call.signal, late.signal]);
    const passed = breakers.enter(id);
    let [isAdmitted, hasBegun, isOpen] = [false, false, true];
    call.attempts?.begin(modelId);
    const end = (outcome: string) => {
      isOpen = false;
      clearTimeout(timer);
      call.attempts?.end(outcome);
      breakers.count(id, outcome);
    };
    const admitted = () => {
      isAdmitted = true;
      if (!this.wasAdmitted) call.admitted?.();
      this.wasAdmitted = true;
    };
    const left = () => {
      if (isOpen) end(CANCELLED);
      passed.left();
    };
    return {
      id,
      call: { ...call, signal, admitted },
      began: () => {
        if (hasBegun) return;
        hasBegun = true;
        call.attempts?.began();
        clearTimeout(timer);
        passed.began();
      },
      answered: () => {
        end(ANSWERED);
        passed.answered();
      },
      failed: (error) => {
        if (call.signal.aborted) left();
        if (!isOpen) throw error;
        end(codeOf(error));
        if (countsAgainst(error, { isAdmitted, hasBegun }))
          passed.failed(1_000 * (error.advice.retryAfterSeconds ?? 0));
        else passed.left();
        if (hasBegun || !this.mayGoOn(error, id)) throw error;
      },
      left,
    };
  }

  private mayGoOn(error: unknown, id: string): boolean {
    // A model that is only a fallback may not take what the first one takes. Its refusal is the answer if no target fails.
    const isRefusedByFallback = error instanceof DomainError && error.kind === 'invalid' && id !== this.targets[0]?.id;
    if (isFaultOfModel(error)) this.failure = error;
    else if (isRefusedByFallback) this.failure ??= error;
    else return false;
    return true;
  }

  /** Returns the error for a call that no breaker admits. */
  private refusal(ready: readonly Target[]): RuntimeUnavailable {
    const waits = ready.map(({ id }) => this.tools.breakers.read(id).retryAfterSeconds ?? 1);
    return new RuntimeUnavailable('its last calls have failed. It is tried again soon.', Math.min(60, ...waits));
  }

  private get now(): number {
    return this.tools.clock.now().getTime();
  }
}

/**
 * Tells whether a failure counts against the target. A call that did not leave the queue says nothing about the model. An
 * answer that takes too long after its first content may wait for a slow reader.
 */
function countsAgainst(
  error: unknown,
  { isAdmitted, hasBegun }: { readonly isAdmitted: boolean; readonly hasBegun: boolean },
): error is DomainError {
  if (!isAdmitted || !isFaultOfModel(error) || error.code === 'runtime_stopped') return false;
  return !(hasBegun && error instanceof InferenceTimeout);
}
