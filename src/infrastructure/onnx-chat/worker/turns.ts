import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

interface Task {
  readonly call: number;
  readonly steps: Iterator<unknown>;
}

/**
 * Runs tasks step by step. The callers take turns: in each turn, the first task of a caller runs one step. So a caller
 * with many long prompts does not delay others. Between two steps the thread handles new messages.
 */
export class Turns {
  /** The tasks of each caller in order of arrival. The first caller has the next turn. */
  private readonly tasks = new Map<string, Task[]>();
  private running = false;

  add(caller: string, call: number, steps: Iterator<unknown>): void {
    const own = this.tasks.get(caller);
    if (own) own.push({ call, steps });
    else this.tasks.set(caller, [{ call, steps }]);
    if (!this.running) void this.run();
  }

  remove(call: number): void {
    for (const [caller, own] of this.tasks) {
      const others = own.filter((task) => task.call !== call);
      if (others.length === own.length) continue;
      if (others.length > 0) this.tasks.set(caller, others);
      else this.tasks.delete(caller);
    }
  }

  private async run(): Promise<void> {
    this.running = true;
    for (;;) {
      await yieldToEventLoop();
      const [next] = this.tasks;
      if (!next) break;
      const [caller, own] = next;
      this.tasks.delete(caller);
      if (own[0]?.steps.next().done) own.shift();
      if (own.length > 0) this.tasks.set(caller, own);
    }
    this.running = false;
  }
}
