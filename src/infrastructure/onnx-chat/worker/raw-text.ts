/** SafeText reads this character as a mark, unless the second one follows it. Then it reads the character itself. */
const MARK = '\uFDD0';
const ITSELF = '\uFDD1';

/** Returns a text as a rendered template, in which special tokens count. */
export const rawText = (text: string, begin: string): string =>
  (text.startsWith(begin) ? '' : begin) + text.replaceAll(MARK, MARK + ITSELF);
