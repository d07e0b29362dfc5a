/**
 * Implements continuous batching. Prompts are read in turns and in chunks (prefill). Answers are generated in batches:
 * a step makes one token of each answer (decode). Sequences join and leave between steps. Between two steps the thread
 * handles new messages, so a cancelled call takes at most one more step.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { batched, type Costs } from './batches.js';
import type { Network, Row, Scores, Step } from './decoder.js';
import type { Past } from './kv-cache.js';
import { PrefixCache } from './prefix-cache.js';
import { type Generated, type Generation, generatedBy, lengthLeft, type Sequence } from './sequence.js';

/** The usual `chunk`. Limits the memory of one step, and how long answers and a cancellation wait for a long prompt. */
const PREFILL_CHUNK = 128;

export interface SchedulerSettings {
  readonly stops: ReadonlySet<number>;
  /** Sequences that run at once. */
  readonly maxBatch: number;
  readonly bytesPerToken: number;
  readonly costs: Costs;
  /** The most bytes of the running KV caches, each at the full length of the longest. A single sequence always runs. */
  readonly kvBytes: number;
  /** Prompts of different lengths may be read in one step. */
  readonly together: boolean;
  /** Sequences may share the KV cache of a common prefix. */
  readonly reuse: boolean;
  readonly cacheBytes: number;
  /** The most tokens of prompts that are read between two tokens of an answer. Default: 128. */
  readonly chunk?: number;
}

export class Scheduler {
  private readonly calls = new Map<number, Sequence>();
  /** In order of arrival. No sequence overtakes one that waits for memory. */
  private readonly waiting = new Set<Sequence>();
  /** In the order of their turns. */
  private readonly prefilling = new Set<Sequence>();
  private readonly decoding = new Set<Sequence>();
  /** Sequences whose next token cannot be chosen yet. They are in no step. */
  private readonly held = new Set<Sequence>();
  /** Sequences that take a step alone, because a step of several sequences failed. */
  private readonly separated = new WeakSet<Sequence>();
  private readonly prefixes: PrefixCache;
  private readonly chunk: number;
  private running = false;

  constructor(
    private readonly network: Network,
    private readonly settings: SchedulerSettings,
  ) {
    const { cacheBytes, bytesPerToken, chunk = PREFILL_CHUNK } = settings;
    const compact = (past: Past) => network.compact(past);
    this.prefixes = new PrefixCache({ maxBytes: cacheBytes, bytesPerToken, compact });
    this.chunk = chunk;
  }

  /** Resolves to the answer, or to null if the call is cancelled. Rejects if the model fails. */
  generate(call: number, request: Generation): Promise<Generated | null> {
    return new Promise((resolve, reject) => {
      const { caller, prompt } = request;
      const state = { past: this.network.begin(), cachedTokens: 0, began: performance.now(), times: [] };
      const sequence = { call, caller, request, tokens: [...prompt], ...state, resolve, reject };
      this.calls.set(call, sequence);
      this.waiting.add(sequence);
      this.resume();
    });
  }

  /**
   * Cancels a call. The prefix cache keeps its past, because the caller may send the prompt again. Returns the tokens of
   * the unfinished answer, if there is one.
   */
  cancel(call: number): (Pick<Generated, 'cachedTokens'> & { completionTokens: number }) | null {
    const sequence = this.calls.get(call);
    if (!sequence) return null;
    this.end(sequence, null);
    const { tokens, request, cachedTokens } = sequence;
    return { completionTokens: tokens.length - request.prompt.length, cachedTokens };
  }

  private resume(): void {
    if (!this.running) void this.run();
  }

  /** Runs steps until every sequence is held or waits for a held one. */
  private async run(): Promise<void> {
    this.running = true;
    for (this.admit(); this.prefilling.size + this.decoding.size > 0; this.admit()) {
      await this.prefill();
      await this.decode();
    }
    this.running = false;
  }

  private admit(): void {
    const { maxBatch, kvBytes, bytesPerToken } = this.settings;
    const longest = (sequences: readonly Sequence[]) =>
      Math.max(...sequences.map(({ request }) => request.prompt.length + request.room));
    for (const sequence of this.waiting) {
      const all = [...this.active, sequence];
      if (all.length > maxBatch) return;
      if (all.length > 1 && all.length * longest(all) * bytesPerToken > kvBytes) return;
      this.waiting.delete(sequence);
      this.prefilling.add(sequence);
    }
  }

  /** Reads at most a chunk of tokens: a piece of one prompt, or several short prompts. */
  private async prefill(): Promise<void> {
    for (let left = this.chunk; left > 0; ) {
      await yieldToEventLoop();
      const [first] = this.prefilling;
      if (!first) return;
      this.skipKnown(first);
      if (this.lacksOneToken(first)) {
        this.prefilling.delete(first);
        this.decoding.add(first);
        continue;
      }
      if (left < this.chunk && lengthLeft(first) > left) return;
      const group = this.readTogether(first, left);
      left -= group.length * Math.min(this.chunk, Math.max(...group.map(lengthLeft)));
      await this.prefillPieces(group);
    }
  }

  /** Returns `first`, and sequences that can join its step. A joined step has at most `room` tokens with padding. */
  private readTogether(first: Sequence, room: number): Sequence[] {
    const group = [first];
    if (!this.canJoin(first)) return group;
    let longest = lengthLeft(first);
    for (const other of this.prefilling) {
      if (other === first) continue;
      this.skipKnown(other);
      const length = Math.max(longest, lengthLeft(other));
      if (!this.canJoin(other) || length * (group.length + 1) > room) continue;
      longest = length;
      group.push(other);
    }
    return group;
  }

  /** Returns whether only the last token is unread. A decode step then reads it together with the tokens of answers. */
  private lacksOneToken(sequence: Sequence): boolean {
    return sequence.past.length > 0 && lengthLeft(sequence) === 1 && !this.separated.has(sequence);
  }

  private canJoin(sequence: Sequence): boolean {
    return this.settings.together && sequence.past.length === 0 && !this.separated.has(sequence);
  }

  private async prefillPieces(group: readonly Sequence[]): Promise<void> {
    const rows = group.map(({ past, tokens }) => ({
      past,
      tokens: tokens.slice(past.length, past.length + this.chunk),
    }));
    try {
      const steps = await this.readPieces(group, rows);
      for (const [i, sequence] of group.entries()) {
        if (!this.prefilling.delete(sequence)) continue; // cancelled meanwhile
        const { past, scores } = steps[i] as Step | { past: Past; scores: null };
        (scores ? this.decoding : this.prefilling).add(sequence);
        sequence.past = past;
        if (scores) this.take(sequence, scores);
      }
    } catch (error) {
      for (const sequence of group) {
        if (group.length === 1) this.fail(sequence, error);
        else this.separated.add(sequence);
      }
    }
  }

  /** Reads a piece of one prompt, or the rest of several prompts. Returns scores only for the end of a prompt. */
  private async readPieces(group: readonly Sequence[], rows: readonly Row[]) {
    const [sequence, row] = [group[0] as Sequence, rows[0] as Row];
    if (lengthLeft(sequence) === row.tokens.length) return this.network.decode(rows);
    return [{ past: await this.network.prefill(row), scores: null }];
  }

  private async decode(): Promise<void> {
    for (const batch of batched([...this.decoding], ({ past }) => past.length, this.settings.costs)) {
      await yieldToEventLoop();
      const sequences = batch.filter((sequence) => this.decoding.has(sequence));
      if (sequences.length > 0) await this.decodeBatch(sequences);
    }
  }

  private async decodeBatch(sequences: readonly Sequence[]): Promise<void> {
    const rows = sequences.map(({ past, tokens }) => ({ past, tokens: tokens.slice(-1) }));
    try {
      const steps = await this.network.decode(rows);
      for (const [i, sequence] of sequences.entries()) {
        if (!this.decoding.has(sequence)) continue;
        const { past, scores } = steps[i] as Step;
        sequence.past = past;
        this.take(sequence, scores);
      }
    } catch (error) {
      this.separate(sequences, error);
    }
  }

  /** Skips tokens that another sequence of the caller has already read. */
  private skipKnown(sequence: Sequence): void {
    if (!this.settings.reuse) return;
    const others = this.active.filter((other) => other !== sequence);
    const past = this.prefixes.find(sequence, others);
    if (!past || past.length <= sequence.past.length) return;
    sequence.cachedTokens += past.length - sequence.past.length;
    sequence.past = past;
  }

  private get active(): Sequence[] {
    return [...this.prefilling, ...this.decoding, ...this.held];
  }

  /** Chooses the next token. Ends the sequence after its last token, or after an error. */
  private take(sequence: Sequence, scores: Scores): void {
    try {
      const late = sequence.request.late?.();
      if (late) return void this.hold(sequence, scores, late);
      const finishReason = this.choose(sequence, scores);
      if (finishReason) this.end(sequence, generatedBy(sequence, finishReason));
    } catch (error) {
      this.fail(sequence, error);
    }
  }

  /** Leaves the sequence out of steps until its next token can be chosen. */
  private async hold(sequence: Sequence, scores: Scores, late: Promise<void>): Promise<void> {
    this.decoding.delete(sequence);
    this.held.add(sequence);
    // The past and the scores are parts of the arrays of a whole step. Copies let these arrays be freed.
    sequence.past = this.network.compact(sequence.past);
    const kept = Float32Array.from(scores);
    try {
      await late;
      if (!this.held.delete(sequence)) return; // cancelled meanwhile
      this.decoding.add(sequence);
      this.take(sequence, kept);
    } catch (error) {
      if (this.held.has(sequence)) this.fail(sequence, error);
    }
    this.resume();
  }

  /** Chooses and adds the next token. Returns why the answer ends, or null if it does not end. */
  private choose({ request, tokens, times }: Sequence, scores: Scores): Generated['finishReason'] | null {
    const token = request.choose(scores);
    times.push(performance.now());
    if (token === null || this.settings.stops.has(token)) return 'stop';
    tokens.push(token);
    if (request.add(token, scores)) return 'stop';
    return tokens.length === request.prompt.length + request.room ? 'length' : null;
  }

  private end(sequence: Sequence, generated: Generated | null): void {
    const { caller, tokens, past } = sequence;
    this.remove(sequence);
    sequence.resolve(generated);
    if (this.settings.reuse && past.length > 0)
      this.prefixes.add({ caller, tokens: tokens.slice(0, past.length), past });
  }

  /** Handles a failed batch: its sequences take the next step alone, so that only the faulty sequence fails. */
  private separate(sequences: readonly Sequence[], error: unknown): void {
    for (const sequence of sequences) {
      if (sequences.length === 1) this.fail(sequence, error);
      else if (this.decoding.delete(sequence)) {
        this.separated.add(sequence);
        this.prefilling.add(sequence);
      }
    }
  }

  private fail(sequence: Sequence, error: unknown): void {
    this.remove(sequence);
    sequence.reject(error);
  }

  private remove(sequence: Sequence): void {
    this.calls.delete(sequence.call);
    for (const set of [this.waiting, this.prefilling, this.decoding, this.held]) set.delete(sequence);
    this.resume();
  }
}
