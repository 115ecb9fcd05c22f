const redacted = '[redacted]';

/**
 * A secret value, or a token, in memory. It prints as `[redacted]` wherever it is logged, serialised, inspected or
 * put into a template; only `reveal()` gives the text, so that each place that discloses it can be found by name.
 */
export class Plaintext {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself. Call it only where the value leaves for its one rightful receiver. */
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
