/**
 * A file that cannot be read, or secrets that a format cannot hold. The message names keys and lines and never holds
 * anything of a value or of a faulty line.
 */
export class FormatError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FormatError';
  }

  /** A fault on one line, counted from 1. */
  static atLine(line: number, message: string): FormatError {
    return new FormatError(`line ${line}: ${message}`);
  }
}
