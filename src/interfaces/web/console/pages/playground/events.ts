/** Reads server-sent events from a text that arrives in pieces. */
export class EventReader {
  private rest = '';

  /** Returns the data of each event that `piece` completes. Skips comments, because they have no data. */
  read(piece: string): string[] {
    const events = (this.rest + piece).split('\n\n');
    this.rest = events.pop() ?? '';
    return events.map(dataOf).filter((data) => data !== '');
  }
}

const dataOf = (event: string): string =>
  event
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).trimStart())
    .join('\n');

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly prompt_tokens_details?: { readonly cached_tokens: number };
}

/** The part of an answer that one event contains. */
export interface Addition {
  /** The id of the answer. */
  readonly id?: string;
  readonly text?: string;
  /** The reason why the answer ended: `stop`, `length` or `tool_calls`. */
  readonly finish?: string;
  readonly usage?: Usage;
  /** The failure that ended the stream. */
  readonly error?: { readonly message: string; readonly code: string };
  /** True if the stream is complete. */
  readonly done?: true;
}

interface Chunk {
  readonly id?: string;
  readonly choices?: readonly { delta?: { content?: string | null }; finish_reason?: string | null }[];
  readonly usage?: Usage | null;
  readonly error?: Addition['error'];
}

/** Reads the data of one event of `POST /openai/v1/chat/completions`. */
export function additionOf(data: string): Addition {
  if (data === '[DONE]') return { done: true };
  const { id, choices = [], usage, error } = JSON.parse(data) as Chunk;
  if (error) return { error };
  const [choice] = choices;
  return {
    ...(id && { id }),
    ...(choice?.delta?.content && { text: choice.delta.content }),
    ...(choice?.finish_reason && { finish: choice.finish_reason }),
    ...(usage && { usage }),
  };
}
