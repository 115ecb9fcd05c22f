import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { readPage } from '../../support/fixtures/documentation.ts';
import { documentedCommands } from '../../support/cli/documented-commands.ts';
import { shellCommands } from '../../support/cli/shell-commands.ts';
import { nonEmpty } from '../../support/fixtures/non-empty.ts';

/** docs/leaving.md names every kind: a resource that stays would go on working, or outlive Keyframe. */

interface Definition {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: { readonly scope: 'Cluster' | 'Namespaced' };
}

const folder = join(checkoutDirectory, 'crds');
const definitions = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .map((file) => parse(readFileSync(join(folder, file), 'utf8')) as Definition);

/** The words of every `kubectl delete` of a page, without the first two, in their order. */
function deletions(page: string): string[][] {
  return documentedCommands(readPage(page))
    .flatMap(({ command }) => shellCommands(command))
    .filter(([program, verb]) => program === 'kubectl' && verb === 'delete')
    .map(([, , ...words]) => words);
}

const all = deletions('docs/leaving.md').filter((words) => words.includes('--all'));

test('every kind is deleted by its full name, in all namespaces if it has one', () => {
  expect(definitions.length).toBeGreaterThan(6);
  const deleted = all.flatMap(([kinds = '', ...flags]) =>
    kinds.split(',').map((name) => ({ name, everywhere: flags.includes('-A') })),
  );
  const expected = definitions.map(({ metadata: { name }, spec }) => ({
    name,
    everywhere: spec.scope === 'Namespaced',
  }));
  expect(deleted).toHaveLength(expected.length);
  expect(deleted).toEqual(expect.arrayContaining(expected));
});

test('what makes resources goes before these, and SecretSyncs keep their Secrets', () => {
  const order = all.flatMap(([kinds = '']) => kinds.split(','));
  const snapshots = order.indexOf('secretsnapshots.keyframe.dev');
  expect(order.indexOf('snapshotschedules.keyframe.dev')).toBeLessThan(snapshots);
  const syncs = all.filter(([kinds]) => kinds?.includes('secretsyncs'));
  expect(syncs).toEqual([
    // Without the SecretSyncs that they made, which would take their Secrets along.
    ['clustersecretsyncs.keyframe.dev', '--all', '--cascade=orphan'],
    ['secretsyncs.keyframe.dev', '--all', '-A', '--cascade=orphan'],
  ]);
});

test('the definitions are deleted by a label that every one of them has', () => {
  const [key, value] = ['app.kubernetes.io/part-of', 'keyframe'];
  expect(deletions('docs/leaving.md')).toContainEqual(['crd', '-l', `${key}=${value}`]);
  expect(readPage('docs/upgrade.md')).toContain(`kubectl delete crd -l ${key}=${value}`);
  for (const { metadata } of nonEmpty(definitions)) expect(metadata).toMatchObject({ labels: { [key]: value } });
});
