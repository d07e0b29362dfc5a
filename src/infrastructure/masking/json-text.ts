/** A string, number or key within a text of JSON. */
export interface JsonPart {
  readonly from: number;
  readonly to: number;
  /** The value of a string without its escapes, or a number as it is written. */
  readonly text: string;
  /** The key of the value. It is null for a key and for an item of a list. */
  readonly key: string | null;
}

const TOKEN = /"|-?\d[\d.eE+-]*|[{}[\],:]|true|false|null/g;

/** Returns the parts of a text that is a JSON object or list. Returns null for any other text. */
export function jsonParts(text: string): JsonPart[] | null {
  if (!/^\s*[{[]/.test(text) || !isJson(text)) return null;
  const parts: JsonPart[] = [];
  let last: string | null = null;
  let key: string | null = null;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
    const [token] = match;
    if (token === ':') key = last;
    else if (/^[{}[\],]$/.test(token)) key = null;
    else {
      const to = token === '"' ? endOfString(text, match.index) : match.index + token.length;
      const written = text.slice(match.index, to);
      last = token === '"' ? (JSON.parse(written) as string) : written;
      if (!/^[tfn]/.test(token)) parts.push({ from: match.index, to, text: last, key });
      key = null;
      TOKEN.lastIndex = to;
    }
  }
  return parts;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns the index after the closing quote of the string that begins at `from`. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}
