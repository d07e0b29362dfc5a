/** A text in which escapes and special forms of characters are replaced by plain characters. */
export interface FoldedText {
  readonly text: string;
  /** Returns the index in the original text. */
  original(index: number): number;
}

const HEX = '[0-9a-fA-F]';
/** At most eight backslashes, because JSON within JSON has more than one. */
const ESCAPES = `(?<!\\\\)\\\\{1,8}(?:u${HEX}{4}|x${HEX}{2}|["'/bfnrt])|%${HEX}{2}|&#(?:\\d{2,7}|[xX]${HEX}{2,6});`;
const INVISIBLE = '[\\p{Cf}\\u034f\\u115f\\u1160\\u3164\\ufe00-\\ufe0f]';
const FORMS = '(?![\\0-\\x7f])[\\p{Nd}\\p{Pd}\\p{Zs}\\u2024\\u2212\\u3002\\uff01-\\uff61\\u{1d400}-\\u{1d7ff}]';
const SPECIAL = new RegExp(`${ESCAPES}|${INVISIBLE}|${FORMS}`, 'gu');
const MAYBE_SPECIAL = /[\\%&\x80-\uffff]/;

const MOST_KNOWN = 1_000;

const WHITE: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: ' ', f: ' ' };

/** Returns null if there is nothing to replace. */
export function folded(text: string): FoldedText | null {
  if (!MAYBE_SPECIAL.test(text)) return null;
  const known = new Map<string, string>();
  const pieces: string[] = [];
  /** The places after which the distance between both indexes changes. */
  const places: number[] = [];
  const originals: number[] = [];
  let length = 0;
  let end = 0;
  for (const { 0: match, index } of text.matchAll(SPECIAL)) {
    const plain = known.get(match) ?? plainOf(match);
    if (known.size < MOST_KNOWN) known.set(match, plain);
    if (plain === match) continue;
    pieces.push(text.slice(end, index), plain);
    length += index - end;
    places.push(length, length + plain.length);
    originals.push(index, index + match.length);
    length += plain.length;
    end = index + match.length;
  }
  if (end === 0) return null;
  return {
    text: pieces.join('') + text.slice(end),
    original(index) {
      let [low, high] = [0, places.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((places[middle] as number) <= index) low = middle + 1;
        else high = middle;
      }
      return low === 0 ? index : (originals[low - 1] as number) + index - (places[low - 1] as number);
    },
  };
}

function plainOf(match: string): string {
  const code = codeOf(match);
  if (code !== null) return code >= 0x20 && code <= 0x10_ffff ? plainCharacter(String.fromCodePoint(code)) : ' ';
  if (match.startsWith('\\')) {
    const letter = match.at(-1) as string;
    return WHITE[letter] ?? letter;
  }
  return plainCharacter(match);
}

/** Returns the number of an escaped character. Returns null if the text is no such escape. */
function codeOf(match: string): number | null {
  const [, hex, decimal] = /^(?:\\+[ux]|%|&#[xX])([0-9a-fA-F]+);?$|^&#(\d+);$/.exec(match) ?? [];
  if (hex !== undefined) return Number.parseInt(hex, 16);
  return decimal === undefined ? null : Number(decimal);
}

const IS_INVISIBLE = new RegExp(`^${INVISIBLE}$`, 'u');

function plainCharacter(character: string): string {
  if (character <= '\x7f') return character;
  if (IS_INVISIBLE.test(character)) return '';
  if (/^[\u3002\uff61]$/.test(character)) return '.';
  if (/^[\p{Pd}\u2212]$/u.test(character)) return '-';
  if (/^\p{Zs}$/u.test(character)) return ' ';
  const plain = character.normalize('NFKC');
  if (/^[\0-\x7f]$/.test(plain)) return plain;
  return /^\p{Nd}$/u.test(character) ? String(digitOf(character)) : character;
}

/** Unicode lists the digits of a script from 0 to 9. */
function digitOf(character: string): number {
  const code = character.codePointAt(0) as number;
  let digit = 0;
  while (digit < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(code - digit - 1))) digit++;
  return digit;
}
