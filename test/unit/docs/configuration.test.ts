import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { prefix, secretVariables, variables } from '../../../src/environment-reader.ts';

const page = readFileSync(join(checkoutDirectory, 'docs', 'configuration.md'), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

test('docs/configuration.md lists every variable of the server, in its order, and no other', () => {
  const listed = rows.map(([, name = '']) => name.replaceAll('`', ''));
  expect(listed).toEqual(Object.keys(variables).map((name) => prefix + name));
});

test('each variable that may be a file is named', () => {
  for (const name of secretVariables) expect(page).toContain(`\`${prefix}${name}_FILE\``);
  expect([...page.matchAll(/KEYFRAME_[A-Z_]+_FILE\b/g)].map(([name]) => name).toSorted()).toEqual(
    [...secretVariables.map((name) => `${prefix}${name}_FILE`), ...otherFiles()].toSorted(),
  );
});

test('the defaults are those that --help tells', () => {
  const defaults = new Map(
    rows.map(([, name = '', value = '']) => [name.replaceAll('`', ''), value.replaceAll('`', '')]),
  );
  const told = Object.entries(variables).flatMap(([name, help]) => {
    const [, value] = /Default: (.*?)\.?$/.exec(help) ?? [];
    return value === undefined ? [] : [[prefix + name, value] as const];
  });
  expect(told.map(([name]) => [name, defaults.get(name)])).toEqual(told);
  const others = Object.keys(variables).filter((name) => !told.some(([known]) => known === prefix + name));
  for (const name of others) expect(defaults.get(prefix + name)).toMatch(/^(?:required|none)/);
});

/** Mentions of variables that name a file and are no other form of one. */
function otherFiles(): string[] {
  const own = Object.keys(variables).filter((name) => name.endsWith('_FILE'));
  const count = (name: string): number => page.split(prefix + name).length - 1;
  return own.flatMap((name) => Array.from({ length: count(name) }, () => prefix + name));
}
