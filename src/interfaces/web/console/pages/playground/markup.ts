/** A block of the Markdown that models use most: code, lists, headings and bold text. All other Markdown stays text. */
export type Block =
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'list'; readonly start: number | null; readonly items: readonly string[] }
  | { readonly kind: 'heading'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string };

export interface Span {
  readonly kind: 'text' | 'bold' | 'code';
  readonly text: string;
}

const FENCE = /^\s*```\s*([\w+#.-]*)\s*$/;
const ITEM = /^\s*(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;
const HEADING = /^#{1,6}\s+(.*)$/;
const SPANS = /(`[^`\n]+`|\*\*[^*\n]+\*\*)/;

/** Splits a text into blocks. An open fence reaches to the end, because the rest of the answer may still arrive. */
export function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; ) {
    const start = at;
    const line = lines[at++] as string;
    const [, language] = FENCE.exec(line) ?? [];
    const [, heading] = HEADING.exec(line) ?? [];
    if (language !== undefined) {
      while (at < lines.length && !FENCE.test(lines[at] as string)) at++;
      blocks.push({ kind: 'code', language, text: lines.slice(start + 1, at).join('\n') });
      at++;
    } else if (heading !== undefined) {
      blocks.push({ kind: 'heading', text: heading });
    } else if (ITEM.test(line)) {
      const isOrdered = (one: string) => ITEM.exec(one)?.[1] !== undefined;
      while (at < lines.length && ITEM.test(lines[at] as string) && isOrdered(lines[at] as string) === isOrdered(line))
        at++;
      const items = lines.slice(start, at).map((item) => ITEM.exec(item)?.[2] ?? '');
      blocks.push({ kind: 'list', start: isOrdered(line) ? Number(ITEM.exec(line)?.[1]) : null, items });
    } else if (line.trim() !== '') {
      const isText = (one: string) => !FENCE.test(one) && !HEADING.test(one) && !ITEM.test(one) && one.trim() !== '';
      while (at < lines.length && isText(lines[at] as string)) at++;
      blocks.push({ kind: 'text', text: lines.slice(start, at).join('\n') });
    }
  }
  return blocks;
}

/** Splits a line into text, bold text and code. */
export const spansOf = (text: string): readonly Span[] =>
  text
    .split(SPANS)
    .filter((part) => part !== '')
    .map((part) => {
      if (part.startsWith('`') && part.length > 1) return { kind: 'code', text: part.slice(1, -1) };
      return SPANS.test(part) ? { kind: 'bold', text: part.slice(2, -2) } : { kind: 'text', text: part };
    });

/** Returns the text with indentation if it is a JSON object or array, otherwise null. */
export function prettyJson(text: string): string | null {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}
