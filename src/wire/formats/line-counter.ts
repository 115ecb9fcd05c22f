/** Finds the line of a position in a text. Positions must grow, so that the text is read only once. */
export class LineCounter {
  readonly #text: string;
  #at = 0;
  #line = 1;

  constructor(text: string) {
    this.#text = text;
  }

  /** The line of the character at this index, counted from 1. */
  lineAt(index: number): number {
    let newline = this.#text.indexOf('\n', this.#at);
    while (newline !== -1 && newline < index) {
      this.#line += 1;
      this.#at = newline + 1;
      newline = this.#text.indexOf('\n', this.#at);
    }
    return this.#line;
  }
}
