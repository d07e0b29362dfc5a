/**
 * Puts the first part of an answer back before the others. A file reads its first part before it begins, so that a
 * refusal can still be sent.
 */
export async function* joined<Part>({ done, value }: IteratorResult<Part, void>, others: AsyncIterable<Part>) {
  if (!done) yield value as Part;
  yield* others;
}
