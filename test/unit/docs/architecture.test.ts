import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { readPage } from '../../support/fixtures/documentation.ts';
import { serviceLayers } from '../structure/service-layers.ts';

/** docs/ARCHITECTURE.md names every folder of `src` and of `src/services`, each once. */

const page = readPage('docs/ARCHITECTURE.md');

/** The cells of the rows of the table whose head has this cell. */
function rowsOf(head: string): readonly (readonly string[])[] {
  const tables = page.split('\n\n').map((block) =>
    block
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .map((line) => line.split('|').map((cell) => cell.trim())),
  );
  const [, , ...rows] = tables.find((table) => table[0]?.includes(head) === true) ?? [];
  return rows;
}

function namesIn(cell: string | undefined): string[] {
  return Array.from(cell?.matchAll(/`([^`]+)`/g) ?? [], ([, name = '']) => name);
}

function entriesOf(folder: string): string[] {
  return readdirSync(join(checkoutDirectory, folder));
}

test('every folder and file of src has its row', () => {
  const named = rowsOf('folder in `src`').flatMap(([, name]) => namesIn(name));
  expect(named.toSorted()).toEqual(entriesOf('src').toSorted());
});

test('every folder of the services has its row', () => {
  const named = rowsOf('folder in `services`').flatMap(([, , name]) => namesIn(name));
  expect(named.toSorted()).toEqual(entriesOf('src/services').toSorted());
});

test('the layers of the services are those that the import rules enforce', () => {
  const rows = rowsOf('folder in `services`').map(([, layer, name]) => [Number(layer), ...namesIn(name)]);
  expect(rows).toEqual(serviceLayers.flatMap((folders, index) => folders.map((folder) => [index + 1, folder])));
});
