import type { ChatRequest } from '../../../src/domain/chat/chat.js';
import type { LoadSettings, Report } from '../../../src/infrastructure/chat-engine/protocol.js';
import { ChatWorker } from '../../../src/infrastructure/chat-engine/worker/chat-worker.js';

export type Completed = Extract<Report, { type: 'completed' }>;

/** What `ask` asks, where nothing else is said: greedily, and for as much as the model has to say. */
export interface Question extends Partial<ChatRequest> {
  readonly text?: string;
  /** Whoever asks gives up at once; the answer is null. */
  readonly dropped?: boolean;
  readonly caller?: string;
}

/**
 * The worker without its process: takes orders and hears reports. Native code and jest don't share their typed arrays, so
 * this is for programs.
 */
export class DrivenWorker {
  maxBatch = 0;
  private lastCall = 0;
  private loaded = () => {};
  private readonly awaited = new Map<number, (report: Report) => void>();
  private readonly worker = new ChatWorker((report) => this.receive(report));

  load(folder: string, settings: LoadSettings = {}): Promise<this> {
    this.worker.take({ type: 'load', folder, threads: 1, ...settings });
    return new Promise((resolve) => {
      this.loaded = () => resolve(this);
    });
  }

  /** Any number at once: what is too much waits in the worker. */
  ask({ text = '', dropped = false, caller = 'usr_a', ...rest }: Question): Promise<Completed | null> {
    this.lastCall += 1;
    const call = this.lastCall;
    const request = { messages: [{ role: 'user' as const, content: text }], maxTokens: null, temperature: 0, ...rest };
    return new Promise((resolve, reject) => {
      this.awaited.set(call, (report) => {
        if (report.type === 'tokenized') this.worker.take({ type: 'generate', call });
        else if (report.type === 'completed') resolve(report);
        else if (report.type === 'cancelled') resolve(null);
        else reject(new Error(JSON.stringify(report)));
      });
      this.worker.take({ type: 'tokenize', call, caller, request });
      if (dropped) this.worker.take({ type: 'cancel', call });
    });
  }

  private receive(report: Report): void {
    if (report.type === 'ready') {
      this.maxBatch = report.maxBatch;
      this.loaded();
    } else if (report.type === 'broken') throw new Error(report.reason);
    else this.awaited.get(report.call)?.(report);
  }
}
