/** Tokenizes texts that are no conversations. */

export const NOTHING_TO_READ = 'must give the model something to read: it has no tokens';

/** SafeText reads this character as a mark, unless the second one follows it. Then it reads the character itself. */
const MARK = '\uFDD0';
const ITSELF = '\uFDD1';

/** At first, a text has at most this many characters for each token that is enough. */
const CHARACTERS_PER_TOKEN = 8;

/**
 * Returns the tokens of a text. Special tokens in the text count as such. Stops soon after `enough` tokens: `whole` is
 * then false. Yields from time to time, so that other calls have their turn.
 */
export function* rawTokens(
  tokensOf: (rendered: string) => Iterable<readonly number[]>,
  text: string,
  enough: number,
): Generator<void, { readonly tokens: readonly number[]; readonly whole: boolean }> {
  for (let most = CHARACTERS_PER_TOKEN * enough; ; most *= 2) {
    const tokens: number[] = [];
    for (const some of tokensOf(text.slice(0, most).replaceAll(MARK, MARK + ITSELF))) {
      for (const token of some) tokens.push(token);
      if (tokens.length > enough) return { tokens, whole: false };
      yield;
    }
    if (text.length <= most) return { tokens, whole: true };
  }
}
