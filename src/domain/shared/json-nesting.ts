export interface JsonNesting {
  /** The deepest level of arrays and objects. */
  readonly depth: number;
  /** The number of arrays and objects. */
  readonly containers: number;
  /** An upper bound of the number of values: each but the first follows a bracket or a comma. */
  readonly values: number;
  /** The number of members of all objects. */
  readonly keys: number;
}

/** Measures the nesting of JSON text before it is parsed. Stops at `depthLimit`. */
export function jsonNesting(text: string, depthLimit: number): JsonNesting {
  let level = 0;
  let depth = 0;
  let containers = 0;
  let values = 1;
  let keys = 0;
  for (let at = 0; at < text.length && depth <= depthLimit; at++) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) at = endOfString(text, at + 1);
    else if (character === OPEN_BRACE || character === OPEN_BRACKET) {
      containers++;
      values++;
      if (++level > depth) depth = level;
    } else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) level--;
    else if (character === COMMA) values++;
    else if (character === COLON) keys++;
  }
  return { depth, containers, values, keys };
}

/** Returns the index of the closing quote of the string that begins at `from`. */
export function endOfString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let escapes = 0;
    while (quote - escapes > from && text.charCodeAt(quote - escapes - 1) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return quote;
  }
  return text.length;
}

const [QUOTE, BACKSLASH, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET, COMMA, COLON] = [...'"\\{}[],:'].map(
  (character) => character.charCodeAt(0),
);
