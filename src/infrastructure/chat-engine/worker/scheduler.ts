import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Network, Scores, Step } from './decoder.js';
import { type Costs, grouped } from './grouping.js';
import type { Past } from './kv-cache.js';
import { type Known, PrefixCache } from './prefix-cache.js';
import { pick } from './sampling.js';

/** Bounds the memory that one step takes, and how long a cancellation and the other answers wait for a long prompt. */
const PREFILL_CHUNK = 128;

export interface Generation {
  /** Whose it is. What was read for one caller is no other's: how fast an answer begins would tell what was asked. */
  readonly caller: string;
  readonly prompt: readonly number[];
  /** Tokens that the answer may have; at least 1. */
  readonly room: number;
  readonly temperature: number;
}

export interface Generated {
  /** Without the one that ended the answer. */
  readonly tokens: readonly number[];
  readonly finishReason: 'stop' | 'length';
  /** Tokens of the prompt that need not be read, since another sequence of the caller begins with them too. */
  readonly cachedTokens: number;
  readonly firstTokenMs: number;
}

export interface SchedulerSettings {
  readonly stops: ReadonlySet<number>;
  /** Sequences that are worked on at once. */
  readonly maxBatch: number;
  readonly bytesPerToken: number;
  readonly costs: Costs;
  /** What the caches of these may weigh together at their longest. A sequence alone is always worked on. */
  readonly kvBytes: number;
  /** Whether what was read for one sequence does for another that begins alike. */
  readonly reuse: boolean;
  /** What is kept of earlier ones for that. */
  readonly cacheBytes: number;
  /** The most tokens of prompts that are read between two tokens of answers. */
  readonly chunk?: number;
}

/** Without scores where the prompt goes on. */
type Taken = Omit<Step, 'scores'> & { readonly scores: Scores | null };

/** A call being worked on. */
interface Sequence extends Known {
  readonly call: number;
  readonly asked: Generation;
  /** Prompt and answer. */
  readonly tokens: number[];
  past: Past;
  cachedTokens: number;
  readonly begun: number;
  firstTokenMs: number;
  readonly resolve: (generated: Generated | null) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Who gets the next step. Prompts are read one at a time, in turns and in chunks; answers are written together, a token
 * each in one step. Sequences join and leave between steps, and between any two steps the thread is free for what came
 * in meanwhile, so that a cancellation costs one step more and not the whole answer.
 */
export class Scheduler {
  private readonly calls = new Map<number, Sequence>();
  /** In order of arrival: nobody overtakes one that has to wait for memory. */
  private readonly waiting = new Set<Sequence>();
  /** In the order of their turns. */
  private readonly reading = new Set<Sequence>();
  private readonly writing = new Set<Sequence>();
  private readonly prefixes: PrefixCache;
  private readonly chunk: number;
  private working = false;

  constructor(
    private readonly network: Network,
    private readonly settings: SchedulerSettings,
  ) {
    const { cacheBytes, bytesPerToken, chunk = PREFILL_CHUNK } = settings;
    this.prefixes = new PrefixCache({ bytes: cacheBytes, bytesPerToken, alone: (past) => network.alone(past) });
    this.chunk = chunk;
  }

  /** The answer to a prompt; null once it is dropped. Rejects where the model fails. */
  generate(call: number, asked: Generation): Promise<Generated | null> {
    return new Promise((resolve, reject) => {
      const counts = { cachedTokens: 0, begun: performance.now(), firstTokenMs: 0 };
      const state = { tokens: [...asked.prompt], past: this.network.begin(), ...counts };
      const sequence = { call, caller: asked.caller, asked, ...state, resolve, reject };
      this.calls.set(call, sequence);
      this.waiting.add(sequence);
      if (!this.working) void this.work();
    });
  }

  /** What was computed for it is kept: whoever gave up may ask again. */
  drop(call: number): void {
    const sequence = this.calls.get(call);
    if (sequence) this.end(sequence, null);
  }

  private async work(): Promise<void> {
    this.working = true;
    while (this.calls.size > 0) {
      this.admit();
      await this.read();
      await this.write();
    }
    this.working = false;
  }

  private admit(): void {
    const { maxBatch, kvBytes, bytesPerToken } = this.settings;
    const longest = (sequences: readonly Sequence[]) =>
      Math.max(...sequences.map(({ asked }) => asked.prompt.length + asked.room));
    for (const sequence of this.waiting) {
      const all = [...this.reading, ...this.writing, sequence];
      if (all.length > maxBatch) return;
      if (all.length > 1 && all.length * longest(all) * bytesPerToken > kvBytes) return;
      this.waiting.delete(sequence);
      this.reading.add(sequence);
    }
  }

  /** Up to a chunk, of one prompt or of several short ones. */
  private async read(): Promise<void> {
    for (let done = 0; done < this.chunk; ) {
      await nextTurn();
      const [sequence] = this.reading;
      if (!sequence) return;
      this.skipKnown(sequence);
      const { tokens, past } = sequence;
      const piece = tokens.slice(past.length, past.length + this.chunk);
      if (done > 0 && done + piece.length > this.chunk) return;
      done += piece.length;
      await this.readPiece(sequence, piece);
    }
  }

  private async readPiece(sequence: Sequence, tokens: readonly number[]): Promise<void> {
    const row = { past: sequence.past, tokens };
    const last = sequence.past.length + tokens.length === sequence.tokens.length;
    try {
      const steps = last ? await this.network.advance([row]) : [{ past: await this.network.read(row), scores: null }];
      if (!this.reading.delete(sequence)) return;
      (last ? this.writing : this.reading).add(sequence);
      this.take(sequence, steps[0] as Taken);
    } catch (error) {
      this.fail(sequence, error);
    }
  }

  private async write(): Promise<void> {
    for (const group of grouped([...this.writing], ({ past }) => past.length, this.settings.costs)) {
      await nextTurn();
      const sequences = group.filter((sequence) => this.writing.has(sequence));
      if (sequences.length > 0) await this.writeTogether(sequences);
    }
  }

  private async writeTogether(sequences: readonly Sequence[]): Promise<void> {
    const rows = sequences.map(({ past, tokens }) => ({ past, tokens: tokens.slice(-1) }));
    try {
      const steps = await this.network.advance(rows);
      for (const [i, sequence] of sequences.entries())
        if (this.writing.has(sequence)) this.take(sequence, steps[i] as Step);
    } catch (error) {
      this.tellApart(sequences, error);
    }
  }

  /** Another sequence of the caller, or an earlier one, may by now have come further on the same way. */
  private skipKnown(sequence: Sequence): void {
    if (!this.settings.reuse) return;
    const others = [...this.reading, ...this.writing].filter((other) => other !== sequence);
    const past = this.prefixes.find(sequence, others);
    if (!past || past.length <= sequence.past.length) return;
    sequence.cachedTokens += past.length - sequence.past.length;
    sequence.past = past;
  }

  private take(sequence: Sequence, { past, scores }: Taken): void {
    const { asked, tokens } = sequence;
    const token = scores && pick(scores, asked.temperature);
    sequence.past = past;
    if (token === null) return;
    sequence.firstTokenMs ||= performance.now() - sequence.begun;
    const stopped = this.settings.stops.has(token);
    if (!stopped) tokens.push(token);
    const full = tokens.length === asked.prompt.length + asked.room;
    if (stopped || full) this.complete(sequence, stopped ? 'stop' : 'length');
  }

  private complete(sequence: Sequence, finishReason: Generated['finishReason']): void {
    const { asked, tokens, cachedTokens, firstTokenMs } = sequence;
    this.end(sequence, { tokens: tokens.slice(asked.prompt.length), finishReason, cachedTokens, firstTokenMs });
  }

  private end(sequence: Sequence, generated: Generated | null): void {
    const { caller, tokens, past } = sequence;
    this.remove(sequence);
    sequence.resolve(generated);
    if (this.settings.reuse && past.length > 0)
      this.prefixes.keep({ caller, tokens: tokens.slice(0, past.length), past });
  }

  /** A step of several has failed: each has its next one alone, so that only the one at fault is failed by it. */
  private tellApart(sequences: readonly Sequence[], error: unknown): void {
    for (const sequence of sequences) {
      if (sequences.length === 1) this.fail(sequence, error);
      else if (this.writing.delete(sequence)) this.reading.add(sequence);
    }
  }

  private fail(sequence: Sequence, error: unknown): void {
    this.remove(sequence);
    sequence.reject(error);
  }

  private remove(sequence: Sequence): void {
    this.calls.delete(sequence.call);
    for (const set of [this.waiting, this.reading, this.writing]) set.delete(sequence);
  }
}
