import { join } from 'node:path';
import type { BatchVerdict } from './batch-check.js';
import type { Session } from './inference-queue.js';
import type { RunResult, SessionAnswer, SessionQuestion } from './session-worker.js';
import { buffersOf, type Signature, type Tensors } from './tensors.js';
import { Thread } from './thread.js';

export interface SessionSettings {
  readonly file: string;
  readonly threads: number;
  readonly batching: boolean;
}

/** The model in a thread of its own, so that this one stays free while it runs. */
export class SessionThread implements Session {
  verdict: BatchVerdict = 'unknown';
  private readonly thread: Thread<SessionQuestion, SessionAnswer>;

  /** `died` is told the end of the thread, which nobody asked for. */
  constructor(died: (error: Error) => void) {
    this.thread = new Thread(join(__dirname, 'session-worker.js'), null, died);
  }

  /** Inside the model: the process can't end in an orderly way. */
  get busy(): boolean {
    return this.thread.busy;
  }

  idle(): Promise<void> {
    return this.thread.idle();
  }

  /** What the model takes and gives, or the reason why it can't be loaded. */
  async load(settings: SessionSettings): Promise<Signature | { readonly reason: string }> {
    const answer = await this.thread.ask({ type: 'load', ...settings }, []);
    if (answer.type === 'loaded') return answer.signature;
    return { reason: answer.type === 'broken' ? answer.reason : 'the model gave no answer' };
  }

  /** What one request alone gets. The memory of the feeds is given away. */
  run(feeds: Tensors): Promise<RunResult> {
    return this.ask(feeds, true);
  }

  /** What the joined rows of several requests get. The memory of the feeds is given away. */
  runJoined(feeds: Tensors): Promise<RunResult> {
    return this.ask(feeds, false);
  }

  private async ask(feeds: Tensors, sample: boolean): Promise<RunResult> {
    const answer = await this.thread.ask({ type: 'run', feeds, sample }, buffersOf(feeds));
    if (answer.type !== 'ran') throw new Error(`a run was answered with ${answer.type}`);
    this.verdict = answer.verdict;
    return answer.result;
  }
}
