import { readFileSync } from 'node:fs';

/** The release of this program, from package.json. */
export function ownRelease(): string {
  // The path is the same from src/lib and from dist/server.
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** Whether a release, such as 0.10.2, is older than another one. Text after a hyphen is ignored. */
export function isOlderRelease(release: string, than: string): boolean {
  const [parts, others] = [numbersOf(release), numbersOf(than)];
  const index = parts.findIndex((part, at) => part !== others[at]);
  return index >= 0 && (parts[index] ?? 0) < (others[index] ?? 0);
}

function numbersOf(release: string): number[] {
  const [numbers = ''] = release.split('-');
  return numbers.split('.').map(Number);
}
