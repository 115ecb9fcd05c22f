import { validateSecretKey, validateSecretValue } from '../secret-rules.ts';
import { shownName } from '../shown-name.ts';
import { FormatError } from './format-error.ts';

/** The secrets of an environment or of a file: each key with its value. */
export type SecretTable = ReadonlyMap<string, string>;

/** Gathers what a file holds, and refuses what would be lost or refused later. */
export class SecretTableBuilder {
  readonly #values = new Map<string, string>();
  readonly #lines = new Map<string, number>();

  /**
   * Takes one secret that was found on this line.
   *
   * @throws FormatError if the key or value is not allowed (docs/interface.md section 2), or the key occurred before:
   * one of the two values would be lost unnoticed.
   */
  add(key: string, value: string, line: number): void {
    const name = shownName(key);
    const keyFault = validateSecretKey(key);
    if (keyFault !== undefined) throw FormatError.atLine(line, `the key ${name} ${keyFault}`);
    const before = this.#lines.get(key);
    if (before !== undefined) {
      throw new FormatError(`${name} stands on line ${before} and again on line ${line}: keep one of them`);
    }
    const valueFault = validateSecretValue(value);
    if (valueFault !== undefined) throw FormatError.atLine(line, `the value of ${name} ${valueFault}`);
    this.#values.set(key, value);
    this.#lines.set(key, line);
  }

  /** All that was taken, in the file's order. */
  build(): SecretTable {
    return this.#values;
  }
}
