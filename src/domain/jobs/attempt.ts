/** The outcome of the attempt that answered. */
export const ANSWERED = 'answered';
/** The outcome of an attempt whose caller has left. */
export const CANCELLED = 'cancelled';

/** One try of a model for a call. */
export interface Attempt {
  readonly modelId: string;
  /** `answered`, `cancelled` if the caller left, or the code of the error. */
  readonly outcome: string;
  /** From the beginning of the attempt to its end, with the time in the queue. */
  readonly ms: number;
}

/** The attempts of one call, one after another. The last one tells which model has answered. */
export class Attempts {
  private readonly ended: Attempt[] = [];
  /** The model whose answer has begun. Null before its first content. */
  answering: string | null = null;
  private open: { readonly modelId: string; readonly since: number } | null = null;

  /** `now` returns milliseconds. */
  constructor(private readonly now: () => number) {}

  /** The model that was tried last. Null if none was tried. */
  get modelId(): string | null {
    return this.open?.modelId ?? this.ended.at(-1)?.modelId ?? null;
  }

  /** The number of attempts that have begun. */
  get count(): number {
    return this.ended.length + (this.open ? 1 : 0);
  }

  begin(modelId: string): void {
    this.open = { modelId, since: this.now() };
  }

  /** Takes the first content of the answer. After it, no further model is tried. */
  began(): void {
    this.answering = this.modelId;
  }

  end(outcome: string): void {
    if (this.open) this.ended.push(this.closed(this.open, outcome));
    this.open = null;
  }

  /** Returns all attempts. One that has not ended gets the outcome of the call. */
  all(outcome: string): readonly Attempt[] {
    return this.open ? [...this.ended, this.closed(this.open, outcome)] : [...this.ended];
  }

  private closed({ modelId, since }: { readonly modelId: string; readonly since: number }, outcome: string): Attempt {
    return { modelId, outcome, ms: Math.max(0, Math.round(this.now() - since)) };
  }
}
