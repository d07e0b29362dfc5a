/** The model can't be used. The message names the part and its file within the folder, for whoever mends the model. */
export class BrokenModel extends Error {
  constructor(part: string, problem: string) {
    super(`${part}: ${problem}`);
  }
}

/** The first line of what a library says about an error, short enough to show. */
export function wordsOf(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).trim().split('\n');
  return line.length > 500 ? `${line.slice(0, 500)}…` : line;
}
