/** After this many pieces they are joined. JavaScript keeps each small piece of a text with much memory of its own. */
const MOST_PIECES = 1_000;

/** Collects a text from pieces, up to a number of characters. */
export class TextCollector {
  private pieces: string[] = [];
  private size = 0;

  constructor(private readonly most: number) {}

  /** Adds a piece, or as much of it as fits. Returns false if the text is too long. */
  add(piece: string): boolean {
    const room = this.most - this.size;
    const fits = piece.length <= room;
    const added = fits ? piece : piece.slice(0, room);
    if (added !== '') this.pieces.push(added);
    this.size += added.length;
    if (this.pieces.length >= MOST_PIECES) this.pieces = [this.joined];
    return fits;
  }

  get length(): number {
    return this.size;
  }

  get joined(): string {
    return this.pieces.join('');
  }
}
