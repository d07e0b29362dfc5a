import type { ChatRequest } from '../../../src/domain/chat/chat.js';
import type { LoadSettings, Report } from '../../../src/infrastructure/onnx-chat/protocol.js';
import { ChatWorker } from '../../../src/infrastructure/onnx-chat/worker/chat-worker.js';

export type Completed = Extract<Report, { type: 'completed' }>;

/** A question, by default at temperature 0 and without a limit of tokens. */
export interface Question extends Partial<ChatRequest> {
  readonly text?: string;
  /** Cancels the call at once. Its answer is null. */
  readonly dropped?: boolean;
  readonly caller?: string;
}

/** Runs the chat worker without its process. Only for compiled programs, because its threads are compiled files. */
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

  /** Asks a question. Any number of questions may be asked at once. */
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
      this.worker.take({ type: 'tokenize', call, caller, request, stream: false });
      if (dropped) this.worker.take({ type: 'cancel', call });
    });
  }

  private receive(report: Report): void {
    if (report.type === 'ready') {
      this.maxBatch = report.maxBatch;
      this.loaded();
    } else if (report.type === 'broken') throw new Error(report.reason);
    else if (report.type !== 'parts') this.awaited.get(report.call)?.(report);
  }
}
