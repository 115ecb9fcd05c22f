import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds package.json, without a slash at its end. */
export const checkoutDirectory = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

/** The version of the working tree, from its package.json. */
export function workingVersion(): string {
  return (JSON.parse(readFileSync(join(checkoutDirectory, 'package.json'), 'utf8')) as { version: string }).version;
}
