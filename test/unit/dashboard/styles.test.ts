import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';

const folder = join(checkoutDirectory, 'src', 'dashboard', 'style');
/** What applies at every width: in formatted files, a rule of one class that is not indented. */
const ruleOfOneClass = /^\.(?<name>[\w-]+)(?: \{|,)$/gm;

// All files apply to every page, so a second rule for a name changes the pages of the first.
test('each class has its rule in one stylesheet', () => {
  const places = readdirSync(folder)
    .filter((file) => file.endsWith('.css') && file !== 'base.css')
    .flatMap((file) =>
      [...readFileSync(join(folder, file), 'utf8').matchAll(ruleOfOneClass)].map(({ groups }) => ({
        name: groups?.['name'] ?? '',
        file,
      })),
    );
  expect(places.length).toBeGreaterThan(100);
  const files = Map.groupBy(places, ({ name }) => name);
  const shared = [...files].filter(([, found]) => new Set(found.map(({ file }) => file)).size > 1);
  expect(shared.map(([name, found]) => `${name}: ${found.map(({ file }) => file).join(', ')}`)).toEqual([]);
});
