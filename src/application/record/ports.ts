import type { Mask } from '../../domain/record/recording.js';
import type { Json } from '../../domain/workspace/json.js';

/**
 * The most characters of content that is masked. Texts and keys count with their lengths, numbers with the length in which
 * they are written, and each other value counts as one.
 */
export const mostMaskedCharacters = 1_048_576;

/**
 * Replaces personal data and secrets in content before it is stored: a find of the kind `email` becomes `[email]`, a
 * find of an own pattern `[<name>]`. The text around the finds stays as it is.
 *
 * - Finds that overlap become one. It gets the label of the find that begins first, or of the longest of these.
 * - A find may be written with the escapes of JSON, such as `\u0040`, with percent-encoding, or with other forms of a
 *   character in Unicode. Invisible characters within a find do not hide it.
 * - A text that is JSON stays JSON. Each of its strings, keys and numbers is masked by itself. With the kind `secret`, a
 *   value under a key such as `password` is masked whole.
 * - The content must be complete: a find that was cut into two texts cannot be found.
 * - The time grows linearly with the length of the content. All own patterns together take at most 10 ms of the processor
 *   for one call.
 * - Other calls of the service go on meanwhile.
 *
 * Both methods throw MaskingFailed if the content is not masked completely: it is longer than `mostMaskedCharacters`, the
 * masking takes too long, or too much other content waits. The caller must not store the content then.
 */
export abstract class Masker {
  /** Returns why a linear-time engine cannot run an own pattern, or null if it can. */
  abstract problem(pattern: string): string | null;
  /** Returns the masked text. */
  abstract mask(text: string, masks: readonly Mask[]): Promise<string>;
  /**
   * Returns a value of which all strings, numbers and keys are masked. Keys that become equal get a number, such as
   * `[email] 2`.
   */
  abstract maskJson<T extends Json>(value: T, masks: readonly Mask[]): Promise<T>;
}
