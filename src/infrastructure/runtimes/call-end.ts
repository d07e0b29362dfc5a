/** Tells whether a call is to end before it has its answer, and why; an AbortSignal does. */
export interface EndSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * The end of one call. It does what an AbortController and its signal would, which cost every call many times as much;
 * only, a listener must not throw.
 */
export class CallEnd implements EndSignal {
  private end: { readonly reason: unknown } | null = null;
  private readonly listeners = new Set<() => void>();

  get aborted(): boolean {
    return this.end !== null;
  }

  get reason(): unknown {
    return this.end?.reason;
  }

  /** Only the first counts. Each listener hears of it once. */
  abort(reason: unknown): void {
    if (this.end) return;
    this.end = { reason };
    for (const listener of this.listeners) {
      this.listeners.delete(listener);
      listener();
    }
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.listeners.delete(listener);
  }
}
