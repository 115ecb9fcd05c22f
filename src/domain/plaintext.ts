const redacted = '[redacted]';

/**
 * A secret value or token in memory. It prints as `[redacted]` if it is logged, serialized, inspected or put into a
 * template. Only `reveal()` returns the text, so that a search for that name finds each disclosure.
 */
export class Plaintext {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text. Call it only to pass the value to its authorized receiver. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return redacted;
  }

  toJSON(): string {
    return redacted;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return redacted;
  }
}
