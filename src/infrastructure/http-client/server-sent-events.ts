import { createParser } from 'eventsource-parser';
import { type HttpStream, InvalidAnswer } from './http-client.js';
import { readingPace } from './reading-pace.js';

/** The most characters of one event. */
export const LONGEST_EVENT = 256 * 1024;
/** The most bytes of an answer. An answer in events is many times as long as its text. */
const LONGEST_STREAM = 64 * 1024 * 1024;
/** The most bytes that are read without a pause. */
const PIECE = 2 * 1024;

/**
 * Yields the data of the server-sent events of an answer. The last event may lack its empty line. Throws InvalidAnswer
 * if the answer has another media type, or if the answer or one event is too long.
 */
export async function* eventsOf(answer: HttpStream): AsyncGenerator<string> {
  let events: string[] = [];
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize: LONGEST_EVENT,
    onEvent: ({ data }) => events.push(data),
    onError: ({ type }) => {
      isTooLong ||= type === 'max-buffer-size-exceeded';
    },
  });
  const read = (text: string) => {
    parser.feed(text);
    if (isTooLong) throw new InvalidAnswer('it has an event that is too long.', answer.status);
    const complete = events;
    events = [];
    return complete;
  };
  for await (const text of textsOf(answer, /^text\/event-stream\b/i)) yield* read(text);
  yield* read('\n\n');
}

/** Yields the text of an answer in pieces, at the pace of all streams. Throws InvalidAnswer if it has another media type, or is too long. */
export async function* textsOf({ status, headers, body }: HttpStream, mediaType: RegExp): AsyncGenerator<string> {
  const isExpected = mediaType.test(headers['content-type'] ?? '');
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > LONGEST_STREAM) throw new InvalidAnswer('it is too long.', status);
    if (!isExpected) throw new InvalidAnswer('it is not the stream of events that was asked for.', status);
    for (let from = 0; from < chunk.length; from += PIECE) {
      const piece = chunk.subarray(from, from + PIECE);
      await readingPace.take(piece.length);
      yield decoder.decode(piece, { stream: true });
    }
  }
  yield decoder.decode();
}
