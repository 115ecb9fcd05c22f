import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutDirectory } from '../../scripts/checkout.ts';

/** A fenced block of a page. */
export interface FencedBlock {
  /** Of its first fence, counted from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

/** Every page for readers, by its path in the checkout. */
export const pages: readonly string[] = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md', 'charts/**/*.md'], {
  cwd: checkoutDirectory,
}).toSorted();

/** The text of a page. */
export function readPage(path: string): string {
  return readFileSync(join(checkoutDirectory, path), 'utf8');
}

/** The fenced blocks of a page, of one language if it is told. */
export function fencedBlocks(markdown: string, language?: string): FencedBlock[] {
  const blocks = Array.from(
    markdown.matchAll(/^```(?<language>\w*)\n(?<text>.*?)^```$/gms),
    ({ index, groups = {} }) => ({
      line: markdown.slice(0, index).split('\n').length,
      language: groups['language'] ?? '',
      text: groups['text'] ?? '',
    }),
  );
  return blocks.filter((block) => language === undefined || block.language === language);
}

/** A page without what is shown as code. */
export function proseOf(markdown: string): string {
  return markdown.replaceAll(/^```\w*\n.*?^```$/gms, '').replaceAll(/`[^`\n]+`/g, '');
}

/** What a page shows to be typed: its `sh` blocks, and the lines behind a `$` in its `console` blocks. */
export function scriptsOf(page: string): string[] {
  return fencedBlocks(readPage(page)).flatMap(({ language, text }) => {
    if (language === 'sh') return [text];
    if (language !== 'console') return [];
    return Array.from(text.matchAll(/^\$ (.*)$/gm), ([, line = '']) => line);
  });
}
