import { setImmediate as nextTurn } from 'node:timers/promises';

interface Work {
  readonly id: number;
  readonly steps: Iterator<unknown>;
}

/**
 * Work that is done a step at a time, in turns: each caller has a step of its first, however much it brings. Between any two
 * steps the thread is free for what came in meanwhile.
 */
export class StepsInTurns {
  /** What each caller has left, in order of arrival; the callers in the order of their turns. */
  private readonly left = new Map<string, Work[]>();
  private working = false;

  add(caller: string, id: number, steps: Iterator<unknown>): void {
    const own = this.left.get(caller);
    if (own) own.push({ id, steps });
    else this.left.set(caller, [{ id, steps }]);
    if (!this.working) void this.work();
  }

  drop(id: number): void {
    for (const [caller, own] of this.left) {
      const others = own.filter((work) => work.id !== id);
      if (others.length === own.length) continue;
      if (others.length > 0) this.left.set(caller, others);
      else this.left.delete(caller);
    }
  }

  private async work(): Promise<void> {
    this.working = true;
    for (;;) {
      await nextTurn();
      const [next] = this.left;
      if (!next) break;
      const [caller, own] = next;
      this.left.delete(caller);
      if (own[0]?.steps.next().done) own.shift();
      if (own.length > 0) this.left.set(caller, own);
    }
    this.working = false;
  }
}
