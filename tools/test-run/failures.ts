import { stripVTControlCharacters } from 'node:util';
import type { JestReport } from './results.ts';

/** A test that failed, or a file that failed as a whole. */
export interface Failure {
  /** From the top of the repository. */
  readonly path: string;
  readonly title: string;
  /** Without colors. */
  readonly message: string;
}

const maxFailures = 20;
const maxLines = 12;

/** What failed in a report; a file that did not load, or whose clean-up threw, has one failure. */
export function failuresOf(report: JestReport | undefined): Failure[] {
  return (report?.testResults ?? []).flatMap((file) => {
    const path = pathInRepository(file.name);
    const failed = file.assertionResults.filter(({ status }) => status === 'failed');
    if (failed.length === 0 && file.status === 'failed') {
      return [{ path, title: 'the file', message: stripVTControlCharacters(file.message ?? '') }];
    }
    return failed.map(({ fullName = '', failureMessages = [] }) => {
      return { path, title: fullName, message: stripVTControlCharacters(failureMessages.join('\n')) };
    });
  });
}

/** A path of a report, from the top of the repository. */
export function pathInRepository(path: string): string {
  return path.replace(/^.*\/(?=test\/)/, '');
}

/** The failures again, because the output above them is long; none if nothing failed. */
export function failureLines(failures: readonly Failure[]): string[] {
  if (failures.length === 0) return [];
  const shown = failures.slice(0, maxFailures).flatMap(({ path, title, message }) => {
    const lines = message.split('\n').filter((line) => line.trim() !== '' && !/^\s+at .*node_modules/.test(line));
    return [`  ${path}`, `    ${title}`, ...lines.slice(0, maxLines).map((line) => `      ${line}`)];
  });
  const more = failures.length - maxFailures;
  return ['Failed:', ...shown, ...(more > 0 ? [`  and ${more} more`] : []), ''];
}
