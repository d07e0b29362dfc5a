import type { ResponsePart } from './answer-assembly.js';
import type { CompletionPart, ToolCallPart } from './chat.js';

interface Piece {
  /** `text`, `reasoning`, or the index of a call. */
  readonly channel: string | number;
  readonly text: string;
}

/**
 * Compares a new answer with the beginning of an earlier one that broke off, which callers may have read. As long as
 * both are equal, nothing is new. If the new answer is different, it begins anew.
 */
export class ResumedAnswer {
  /** The pieces of the earlier answer that the new one has not repeated yet. */
  private readonly left: Piece[] = [];
  private readonly repeated: CompletionPart[] = [];
  private isCompared: boolean;

  constructor(earlier: readonly ResponsePart[]) {
    const last = earlier.findLastIndex(({ anew }) => anew);
    for (const { channel, text } of earlier.slice(Math.max(0, last)).flatMap(piecesOf)) {
      const before = this.left.at(-1);
      if (before?.channel === channel) this.left.splice(-1, 1, { channel, text: before.text + text });
      else this.left.push({ channel, text });
    }
    this.isCompared = this.left.length > 0;
  }

  /** Returns what a part of the new answer adds to the earlier answer. */
  take(part: CompletionPart): ResponsePart[] {
    if (!this.isCompared) return [part];
    this.repeated.push(part);
    const added: Piece[] = [];
    for (const piece of piecesOf(part)) {
      const rest = this.restOf(piece);
      if (rest === null) return this.anew();
      if (rest !== '') added.push({ ...piece, text: rest });
    }
    if (this.left.length > 0) return part.end ? this.anew() : [];
    this.isCompared = false;
    return [partOf(added, part)];
  }

  /** Returns what a piece has beyond the earlier answer, or null if it is different. */
  private restOf({ channel, text }: Piece): string | null {
    const [next] = this.left;
    if (!next) return text;
    const common = Math.min(next.text.length, text.length);
    if (next.channel !== channel || next.text.slice(0, common) !== text.slice(0, common)) return null;
    const others = next.text.slice(common);
    if (others !== '') this.left[0] = { channel, text: others };
    else this.left.shift();
    if (this.left.length > 0 && common < text.length) return null;
    return text.slice(common);
  }

  private anew(): ResponsePart[] {
    this.isCompared = false;
    const [first, ...others] = this.repeated;
    return first ? [{ ...first, anew: true }, ...others] : [];
  }
}

function piecesOf({ text, reasoning = '', toolCalls = [] }: ResponsePart): Piece[] {
  const pieces = [
    { channel: 'reasoning', text: reasoning },
    { channel: 'text', text },
    ...toolCalls.map((call) => ({ channel: call.index, text: callText(call) })),
  ];
  return pieces.filter((piece) => piece.text !== '');
}

/** The ids of calls are random, so they are not compared. */
const callText = ({ name, arguments: text }: ToolCallPart) => (name === undefined ? text : `${name}\n${text}`);

/** Returns the part with only these pieces. A call whose name was repeated is without it. */
function partOf(pieces: readonly Piece[], { toolCalls = [], logprobs, text }: CompletionPart): ResponsePart {
  const textOf = (channel: string) => pieces.find((piece) => piece.channel === channel)?.text ?? '';
  const calls = toolCalls.flatMap((call) => {
    const piece = pieces.find(({ channel }) => channel === call.index);
    if (!piece) return [];
    return piece.text === callText(call) ? [call] : [{ index: call.index, arguments: piece.text }];
  });
  return {
    text: textOf('text'),
    ...(textOf('reasoning') !== '' && { reasoning: textOf('reasoning') }),
    ...(calls.length > 0 && { toolCalls: calls }),
    ...(logprobs && textOf('text') === text && { logprobs }),
  };
}
