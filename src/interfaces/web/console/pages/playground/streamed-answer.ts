import { ApiError } from '../../shared/api.js';
import { additionOf, EventReader, type Usage } from './events.js';

/** The reason why a model ended its answer. */
export type End = 'stop' | 'length' | 'tool_calls';

/** Collects an answer from its events. Reports its text at most once per frame. */
export class StreamedAnswer {
  text = '';
  /** The id of the answer, or null before its first event. */
  id: string | null = null;
  usage: Usage | null = null;
  /** Seconds from the call to the first text. */
  firstText: number | null = null;
  private frame = 0;

  constructor(private readonly tell: (text: string) => void) {}

  /** Resolves to the reason why the answer ended. Throws if the stream has an error event or is cut. */
  async read(body: ReadableStream<Uint8Array>, started: number): Promise<End | undefined> {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    const events = new EventReader();
    let end: End | undefined;
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) throw new Error('The stream was cut.');
        for (const data of events.read(decoder.decode(value, { stream: true }))) {
          const { id, text, finish, usage, error, done: complete } = additionOf(data);
          this.id ??= id ?? null;
          if (error) throw new ApiError(0, error.code, error.message);
          if (text) this.add(text, started);
          if (finish) end = finish as End;
          if (usage) this.usage = usage;
          if (complete) return end;
        }
      }
    } finally {
      cancelAnimationFrame(this.frame);
    }
  }

  private add(text: string, started: number): void {
    this.firstText ??= (performance.now() - started) / 1000;
    this.text += text;
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.tell(this.text);
    });
  }
}

/**
 * Returns the reason as an ApiError. An error inside a stream gets the request id of the stream. Any other reason means
 * that the connection broke.
 */
export function errorOf(reason: unknown, requestId: string | null = null): ApiError {
  if (reason instanceof ApiError && (reason.requestId || !requestId)) return reason;
  const { code, message } =
    reason instanceof ApiError
      ? reason
      : { code: 'cut', message: 'The connection broke before the answer was complete.' };
  return new ApiError(0, code, message, requestId);
}
