import { readFileSync } from 'node:fs';

/** Where configuration comes from: a test gives its own. */
export interface ConfigSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  readTextFile(path: string): string;
}

/** The only place that reads this process's environment. */
export function processSource(): ConfigSource {
  return { env: process.env, readTextFile: (path) => readFileSync(path, 'utf8') };
}

/** Thrown with every fault of a configuration, one sentence each. The program exits with 78. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`the configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}: ${faults.join('; ')}`);
    this.name = 'ConfigError';
    this.faults = faults;
  }
}
