import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutDirectory } from '../../../tools/checkout.ts';

/** Words that the project does not use: most readers meet the standard word more often. CONTRIBUTING.md has the style card. */

/** Each word with what to write instead. A phrase is also found across the end of a line. */
export const rejectedWords: Readonly<Record<string, string>> = {
  whoever: '"a user who", "the client that"',
  anew: '"again", "new"',
  shall: '"must", "will"',
  tell: '"report", "show", "return"; for differences "distinguish"',
  tells: '"reports", "shows", "returns"',
  told: '"reported"; for a default "unless set"',
  telling: '"reporting"',
  nobody: '"no user", "no client", "nothing"',
  somebody: '"a user", "another client"',
  anybody: '"any user", "any client"',
  'of ours': 'the name of the thing',
  'as ever': '"as before"',
  'it is so with': '"the same holds for"',
  'what is there': 'the name of the thing',
};

// Each folder is read with all that is in it; of the top level, these files.
const roots = ['.ci', 'charts', 'crds', 'docs', 'examples', 'prisma', 'src', 'test', 'tools'] as const;
const topFiles = ['*.md', '*.ts', 'Dockerfile'] as const;
// Written by the database's generator at installation, and not in the repository.
const notOurs = /^src\/store\/generated\/|(^|\/)node_modules\/|__pycache__/;

/** The text files of the project, by their paths. */
export function textFiles(): string[] {
  const patterns = [...roots.map((root) => `${root}/**`), ...topFiles];
  return globSync(patterns, { cwd: checkoutDirectory })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !notOurs.test(path) && statSync(join(checkoutDirectory, path)).isFile())
    .toSorted();
}

/** The text of a file; undefined if it is binary. */
export function readText(path: string): string | undefined {
  const text = readFileSync(join(checkoutDirectory, path), 'utf8');
  return text.includes('\0') ? undefined : text;
}

/** Each rejected word of a text, with its line. */
export function wordFaults(path: string, text: string, allowed: readonly string[] = []): string[] {
  const words = Object.keys(rejectedWords).filter((word) => !allowed.includes(word));
  return words.flatMap((word) =>
    Array.from(text.matchAll(patternOf(word)), ({ index }) => {
      const line = text.slice(0, index).split('\n').length;
      return `${path}:${line}: "${word}"; write ${rejectedWords[word]}`;
    }),
  );
}

/** A phrase may go on in the next line, behind the mark of a comment. */
function patternOf(word: string): RegExp {
  return new RegExp(String.raw`\b${word.split(' ').join(String.raw`[\s*/#-]+`)}\b`, 'gi');
}
