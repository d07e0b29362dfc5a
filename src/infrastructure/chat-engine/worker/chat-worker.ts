import type { Order, Report } from '../protocol.js';
import type { WriterOrder, WriterReport } from './answer-writer.js';
import type { CounterOrder, CounterReport } from './prompt-counter.js';
import { SideThread } from './side-thread.js';

type Counted = Extract<WriterOrder, { type: 'generate' }>;

/**
 * Does what the service orders, and logs nothing: what people ask and get is theirs. One thread counts prompts, another
 * writes answers, and this one only stands between: it is free for an order whatever the others do.
 */
export class ChatWorker {
  private readonly counter = new SideThread<CounterOrder, CounterReport>('counting-thread.js', (report) =>
    this.hear(report),
  );
  private readonly writer = new SideThread<WriterOrder, WriterReport>('writing-thread.js', (report) =>
    this.report(report),
  );
  /** Calls that are being counted, and that somebody still waits for. */
  private readonly counting = new Map<number, Pick<Counted, 'caller' | 'temperature'>>();
  /** Those that are counted, but not yet to be answered. */
  private readonly counted = new Map<number, Counted>();

  constructor(private readonly report: (report: Report) => void) {}

  take(order: Order): void {
    switch (order.type) {
      case 'load':
        this.counter.send({ type: 'load', folder: order.folder, weights: order.weights });
        this.writer.send(order);
        break;
      case 'count':
        this.counting.set(order.call, { caller: order.caller, temperature: order.request.temperature });
        this.counter.send(order);
        break;
      case 'generate':
        this.generate(order.call);
        break;
      case 'drop':
        this.drop(order);
    }
  }

  private generate(call: number): void {
    const counted = this.counted.get(call);
    if (counted) this.writer.send(counted, [counted.prompt.buffer as ArrayBuffer]);
    this.counted.delete(call);
  }

  /** Whoever has the call says when it is dropped. */
  private drop(order: Extract<Order, { type: 'drop' }>): void {
    const { call } = order;
    if (this.counted.delete(call)) this.report({ type: 'dropped', call });
    else if (this.counting.delete(call)) this.counter.send(order);
    else this.writer.send(order);
  }

  private hear(report: CounterReport): void {
    if (report.type === 'loaded') this.writer.send({ type: 'try', sample: report.sample });
    else if (report.type === 'counted') this.keep(report);
    else {
      if (report.type !== 'broken') this.counting.delete(report.call);
      this.report(report);
    }
  }

  /** The count of a call that was dropped meanwhile is nobody's. */
  private keep({ call, prompt, room }: Extract<CounterReport, { type: 'counted' }>): void {
    const asked = this.counting.get(call);
    if (!asked) return;
    this.counting.delete(call);
    this.counted.set(call, { type: 'generate', call, ...asked, prompt, room });
    this.report({ type: 'counted', call, promptTokens: prompt.length });
  }
}
