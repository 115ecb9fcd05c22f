import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutDirectory } from '../checkout.ts';

/** The default size answers soon. The full one runs everything. */
export const sizes = ['default', 'full'] as const;
export type Size = (typeof sizes)[number];

/** The suites whose files belong to the default size only with a mark. */
export const markedSuites = ['e2e', 'node'] as const;

// The tests of the tools that every run uses. They belong to the full size.
const toolTests = 'test/integration/tools/';

/**
 * Why a test file belongs to the default size: the sentence behind `@default` in the comment that is its first. Undefined
 * without such a mark.
 */
export function defaultReason(source: string): string | undefined {
  const [comment = ''] = /\/\*[^]*?\*\/|\/\/.*/.exec(source) ?? [];
  const [, reason] = /^\/\*\*[\s*]*@default\b([^]*)\*\/$/.exec(comment) ?? [];
  return reason?.replaceAll(/\s*\n\s*\*\s*/g, ' ').trim();
}

/** The test files of a suite that the default size leaves out, by their paths from the top of the repository. */
export function filesLeftOut(suite: string): string[] {
  if (suite === 'integration') return testFiles(suite).filter((path) => path.startsWith(toolTests));
  if (!(markedSuites as readonly string[]).includes(suite)) return [];
  return testFiles(suite).filter((path) => defaultReason(readSource(path)) === undefined);
}

/** The test files of a suite that are marked for the default size, and why. */
export function filesOfDefault(suite: string): { readonly path: string; readonly reason: string }[] {
  return testFiles(suite).flatMap((path) => {
    const reason = defaultReason(readSource(path));
    return reason === undefined ? [] : [{ path, reason }];
  });
}

function testFiles(suite: string): string[] {
  const folder = join('test', suite);
  const files = readdirSync(join(checkoutDirectory, folder), { recursive: true, encoding: 'utf8' });
  return files
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(folder, name))
    .toSorted();
}

function readSource(path: string): string {
  return readFileSync(join(checkoutDirectory, path), 'utf8');
}

/**
 * The seed of what a run draws by chance: KEYFRAME_TEST_SEED, or the UTC date, so that each day draws something else and a day
 * can be repeated. Throws if the variable is no number.
 */
export function seedOf(env: NodeJS.ProcessEnv, now = new Date()): number {
  const text = env['KEYFRAME_TEST_SEED'] || now.toISOString().slice(0, 10).replaceAll('-', '');
  if (!/^\d{1,9}$/.test(text)) throw new Error('KEYFRAME_TEST_SEED must be a whole number of at most 9 digits.');
  return Number(text);
}
