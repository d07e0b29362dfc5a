import { type HttpStream, InvalidAnswer } from './http-client.js';
import { LONGEST_EVENT, textsOf } from './server-sent-events.js';

/** `application/x-ndjson` is usual, but there is no standard. */
const MEDIA_TYPE = /^application\/(x-)?(ndjson|json|jsonl|json-?lines)\b/i;

/**
 * Yields the lines of an answer in newline-delimited JSON, except empty lines. Throws InvalidAnswer if the answer has
 * another media type, or if the answer or one line is too long.
 */
export async function* linesOf(answer: HttpStream): AsyncGenerator<string> {
  let rest = '';
  for await (const text of textsOf(answer, MEDIA_TYPE)) {
    const lines = (rest + text).split('\n');
    if (lines.some(({ length }) => length > LONGEST_EVENT))
      throw new InvalidAnswer('it has a line that is too long.', answer.status);
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield line;
  }
  if (rest.trim() !== '') yield rest;
}
