import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';

const entriesOf = (folder: string): string[] => readdirSync(join(checkoutDirectory, folder));

test('each page of the dashboard is index.tsx of its folder', () => {
  const pages = entriesOf('src/dashboard/pages');
  expect(pages.length).toBeGreaterThan(15);
  const isPage = (name: string): boolean =>
    existsSync(join(checkoutDirectory, 'src/dashboard/pages', name, 'index.tsx'));
  expect(pages.filter((name) => !isPage(name))).toEqual([]);
});

test('only the start of the command and its table lie beside its folders', () => {
  const files = entriesOf('src/cli').filter((name) => name.includes('.'));
  expect(files.toSorted()).toEqual(['command-table.ts', 'main.ts']);
});
