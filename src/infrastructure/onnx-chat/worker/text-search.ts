/** Searches an answer that arrives character by character. */

/** Finds a text anywhere (algorithm of Knuth, Morris and Pratt). */
export class StopSearch {
  /** The length of the longest prefix of the text that the answer ends with. */
  matched = 0;
  /** For a prefix of each length: the length of the longest shorter prefix that it ends with. */
  private readonly shorter = [0, 0];

  constructor(readonly stop: string) {
    for (let i = 1; i < stop.length; i++) {
      this.finds(stop.charCodeAt(i));
      this.shorter.push(this.matched);
    }
    this.matched = 0;
  }

  /** Adds a character. Returns true if the answer now ends with the text. */
  finds(unit: number): boolean {
    while (this.matched > 0 && this.stop.charCodeAt(this.matched) !== unit)
      this.matched = this.shorter[this.matched] as number;
    if (this.stop.charCodeAt(this.matched) === unit) this.matched += 1;
    return this.matched === this.stop.length;
  }
}

/** Finds one of several texts at the start of the answer. */
export class StartSearch {
  /** The length of the answer if it can still become one of the texts, else 0. */
  matched = 0;
  private begun = '';
  private isOver = false;

  constructor(private readonly texts: readonly string[]) {}

  /** Adds a character. Returns true if the answer now is one of the texts. */
  finds(unit: number): boolean {
    if (this.isOver) return false;
    this.begun += String.fromCharCode(unit);
    this.isOver = !this.texts.some((text) => text.startsWith(this.begun));
    this.matched = this.isOver ? 0 : this.begun.length;
    return this.texts.includes(this.begun);
  }
}
