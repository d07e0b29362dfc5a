/** The part of a JSON object that is left when the items of one list in it are taken out. */
export interface Rest {
  /** The text of the object. Each item is replaced by a 0. Not JSON if there is an empty place between the items. */
  readonly text: string;
  readonly items: number;
  /** The number of lists with the name. Only the first list is split. */
  readonly lists: number;
}

/** Limits the rest, which is parsed as a whole. */
const MOST_REST = 5 * 1024 * 1024;

const [QUOTE, BACKSLASH, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET, COMMA, COLON] = [...'"\\{}[],:'].map(
  (character) => character.charCodeAt(0),
);

const WHITE_SPACE = /^\s*$/;

/**
 * Splits the text of a JSON object into the items of the list in its member `name`, and the rest. Takes the text in
 * pieces and keeps only one item at a time. Does not check the JSON: whoever parses the items and the rest does.
 */
export class JsonItems {
  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  private isInList = false;
  private lists = 0;
  /** The last string that began in the outermost object: the piece with its beginning, and the place there. */
  private beginning = { piece: '', at: 0 };
  private lastString = '';
  private key = '';
  private item = '';
  private items = 0;
  private placed = 0;
  private rest: string[] = [];
  private restLength = 0;

  /** `longest` limits an item, `most` the items that the rest counts. */
  constructor(
    private readonly name: string,
    private readonly longest: number,
    private readonly most: number,
  ) {}

  /** Yields the items that end in this piece. An item that is too long is null. */
  *add(piece: string): Generator<string | null> {
    let from = 0;
    for (let at = 0; at < piece.length; at++) {
      const character = piece.charCodeAt(at);
      if (this.isInString) this.inString(character, piece, at);
      else if (character === QUOTE) {
        this.isInString = true;
        if (this.depth === 1) this.beginning = { piece, at: at + 1 };
      } else if (character === COLON && this.depth === 1) this.key = this.lastString;
      else if (character === OPEN_BRACKET || character === OPEN_BRACE) {
        if (!this.beginsList(character)) continue;
        this.take(piece.slice(from, at + 1));
        from = at + 1;
        this.isInList = true;
      } else if (character === CLOSE_BRACKET || character === CLOSE_BRACE) {
        if (this.isInList && this.depth === 2) {
          yield* this.endItem(piece.slice(from, at), true);
          from = at;
          this.isInList = false;
        }
        this.depth--;
      } else if (character === COMMA && this.isInList && this.depth === 2) {
        yield* this.endItem(piece.slice(from, at), false);
        from = at + 1;
      }
    }
    this.take(piece.slice(from));
  }

  /** Returns the rest after the last piece. Returns null if it is too long. */
  end(): Rest | null {
    if (this.restLength > MOST_REST) return null;
    return { text: [...this.rest, this.item].join(''), items: this.items, lists: this.lists };
  }

  private inString(character: number, piece: string, at: number): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (character === BACKSLASH) this.isEscaped = true;
    else if (character === QUOTE) {
      this.isInString = false;
      if (this.depth !== 1) return;
      const { piece: first, at: start } = this.beginning;
      // A name is short, so it lies in at most two pieces.
      this.lastString = unescaped(first === piece ? piece.slice(start, at) : first.slice(start) + piece.slice(0, at));
      this.beginning = { piece: '', at: 0 };
    }
  }

  /** Counts an opening bracket. Returns whether it begins the list that is split. */
  private beginsList(character: number): boolean {
    const isList = character === OPEN_BRACKET && this.depth === 1 && this.key === this.name;
    this.depth++;
    if (isList) this.lists++;
    return isList && this.lists === 1;
  }

  private *endItem(tail: string, isLast: boolean): Generator<string | null> {
    this.take(tail);
    const { item } = this;
    this.item = '';
    const isTooLong = item.length > this.longest;
    if (!isTooLong && WHITE_SPACE.test(item)) {
      if (!isLast || this.items > 0) this.keep(',,');
      return;
    }
    this.items++;
    if (this.placed < this.most) this.keep(this.placed++ > 0 ? ',0' : '0');
    yield isTooLong ? null : item;
  }

  private take(text: string): void {
    if (!this.isInList) this.keep(text);
    else if (this.item.length <= this.longest) this.item += text;
  }

  private keep(text: string): void {
    this.restLength += text.length;
    if (this.restLength <= MOST_REST) this.rest.push(text);
  }
}

function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  try {
    return JSON.parse(`"${text}"`);
  } catch {
    return text;
  }
}
