import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { readPage } from '../../support/fixtures/documentation.ts';

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly scope: 'Namespaced' | 'Cluster';
    readonly names: {
      readonly kind: string;
      readonly shortNames: readonly string[];
      readonly categories: readonly string[];
    };
  };
}

const folder = join(checkoutDirectory, 'crds');
const definitions = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .map((file) => parse(readFileSync(join(folder, file), 'utf8')) as Definition);

test('the list of kinds has every definition, with its full name, short name and scope', () => {
  const rows = Array.from(
    readPage('docs/README.md').matchAll(/^\| \[(\w+)\]\(resources\/\S+\) +\| `(\S+)` +\| `(\w+)` +\| (\w+) +\|$/gm),
    ([, ...cells]) => cells.join(' '),
  );
  const expected = definitions.map(({ metadata, spec: { scope, names } }) =>
    [names.kind, metadata.name, ...names.shortNames, scope === 'Cluster' ? 'cluster' : 'namespace'].join(' '),
  );
  expect(rows).toEqual(expected.toSorted());
});

test('the category in the list of kinds is that of every definition', () => {
  const [, category] =
    /`kubectl get (\w+) -A` lists the resources of every kind/.exec(readPage('docs/README.md')) ?? [];
  expect(definitions.map(({ spec }) => spec.names.categories)).toEqual(definitions.map(() => [category]));
});
