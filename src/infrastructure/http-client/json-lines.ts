import { TextCollector } from '../../domain/shared/text-collector.js';
import { type HttpStream, InvalidAnswer } from './http-client.js';
import { LONGEST_EVENT, textsOf } from './server-sent-events.js';

/** `application/x-ndjson` is usual, but there is no standard. */
const MEDIA_TYPE = /^application\/(x-)?(ndjson|json|jsonl|json-?lines)\b/i;

/**
 * Yields the lines of an answer in newline-delimited JSON, except empty lines. Throws InvalidAnswer if the answer has
 * another media type, or if the answer or one line is too long.
 */
export async function* linesOf(answer: HttpStream): AsyncGenerator<string> {
  let begun = new TextCollector(LONGEST_EVENT);
  const complete = (line: string) => {
    if (!begun.add(line)) throw new InvalidAnswer('it has a line that is too long.', answer.status);
  };
  for await (const text of textsOf(answer, MEDIA_TYPE)) {
    const [first = '', ...others] = text.split('\n');
    complete(first);
    for (const other of others) {
      if (begun.joined.trim() !== '') yield begun.joined;
      begun = new TextCollector(LONGEST_EVENT);
      complete(other);
    }
  }
  if (begun.joined.trim() !== '') yield begun.joined;
}
