import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { errorDocs, errorDocsFile } from '../../../tools/generate/error-docs.ts';
import { errorCatalogue } from '../../../src/domain/errors/catalogue.ts';

const page = readFileSync(errorDocsFile, 'utf8');

test('docs/errors.md is as it is generated', () => {
  expect(page).toBe(errorDocs());
});

test('docs/errors.md has one row for each code of the catalogue, with its status, title and reason', () => {
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')));
  const documented = rows.map(([, code, status, title, reason]) => [code, status, title, reason]);
  const known = Object.entries(errorCatalogue);
  expect(known.length).toBeGreaterThan(20);
  expect(documented).toEqual(
    known.map(([code, { status, title, reason }]) => [code, String(status ?? '–'), title, reason]),
  );
});
