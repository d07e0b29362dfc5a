import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export const TRANSFORMERS = '@huggingface/transformers@4.3.1';

/** Gives a task to a contender and returns its report. */
export type Asked<Task, Report> = (task: Task) => Promise<Report>;

/** Processes that do the same tasks in different ways. */
export class Contenders<Task extends object, Report> {
  private readonly children: ChildProcess[] = [];

  /** The compiled file reads the arguments, says that it is ready, and answers each task with a report. */
  constructor(private readonly file: string) {}

  async start(...args: string[]): Promise<Asked<Task, Report>> {
    const child = fork(join(__dirname, this.file), args);
    this.children.push(child);
    child.once('exit', (code) => code && process.exit(code));
    await once(child, 'message');
    return async (task) => {
      child.send(task);
      const [report] = await once(child, 'message');
      return report;
    };
  }

  end(): void {
    for (const child of this.children) child.kill();
  }
}

/** Runs both contenders one after the other. In odd rounds the second begins. */
export async function inTurns<T>(
  round: number,
  [a, b]: readonly [() => Promise<T>, () => Promise<T>],
): Promise<[T, T]> {
  if (round % 2 === 0) return [await a(), await b()];
  const second = await b();
  return [await a(), second];
}
