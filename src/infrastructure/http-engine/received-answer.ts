import type { CompletionPart } from '../../domain/chat/chat.js';
import type { Answered } from '../chat-runtimes/runtime-meter.js';
import { steadyMs } from '../system/scheduling.js';
import type { ReceivedPart } from './engine-connection.js';
import type { PartPipe } from './part-pipe.js';

/** An answer with its figures for the meter. */
export interface Counted<T> extends Pick<Answered, 'usage' | 'firstTokenMs' | 'betweenTokensMs'> {
  readonly answer: T;
}

/** Writes the parts of an answer into the pipe, except the last part, which it returns. */
export async function receive(
  received: AsyncIterable<ReceivedPart>,
  ending: AbortSignal,
  parts: PartPipe<CompletionPart>,
): Promise<Counted<CompletionPart>> {
  const gaps: number[] = [];
  let since = steadyMs();
  let last: CompletionPart = { text: '' };
  for await (const { part, size } of received) {
    if (part.end) last = part;
    else {
      gaps.push(steadyMs() - since);
      await parts.put(part, size);
      since = steadyMs(); // the time of a slow reader is not the engine's time
    }
  }
  ending.throwIfAborted();
  const [firstTokenMs = null, ...betweenTokensMs] = gaps;
  return { answer: last, usage: last.end?.usage ?? null, firstTokenMs, betweenTokensMs };
}
