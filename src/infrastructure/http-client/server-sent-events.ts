import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { type HttpStream, InvalidAnswer } from './http-client.js';

/** The most characters of one event. */
const LONGEST_EVENT = 1024 * 1024;
/** The most bytes of an answer. An answer in events is many times as long as its text. */
const LONGEST_STREAM = 64 * 1024 * 1024;

/**
 * Yields the server-sent events of an answer. The last event may lack its empty line. Throws InvalidAnswer if the
 * answer has another media type, or if the answer or one event is too long.
 */
export async function* eventsOf({ status, headers, body }: HttpStream): AsyncGenerator<EventSourceMessage> {
  const isStream = /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
  const decoder = new TextDecoder();
  let events: EventSourceMessage[] = [];
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize: LONGEST_EVENT,
    onEvent: (event) => events.push(event),
    onError: ({ type }) => {
      isTooLong ||= type === 'max-buffer-size-exceeded';
    },
  });
  const read = (text: string) => {
    parser.feed(text);
    if (isTooLong) throw new InvalidAnswer('it has an event that is too long.', status);
    const complete = events;
    events = [];
    return complete;
  };
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > LONGEST_STREAM) throw new InvalidAnswer('it is too long.', status);
    if (!isStream) throw new InvalidAnswer('it is not the stream of events that was asked for.', status);
    yield* read(decoder.decode(chunk, { stream: true }));
  }
  yield* read(`${decoder.decode()}\n\n`);
}
