import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { defaultNamespace } from '../../../src/compose/kube-client.ts';
import { fencedBlocks, pages, readPage, scriptsOf } from '../../support/fixtures/documentation.ts';
import { shellCommands } from '../../support/cli/shell-commands.ts';

/** Every page installs into one namespace: a release that one page installs is the one that another page upgrades. */

const verbs = new Set(['install', 'upgrade', 'test', 'uninstall', 'rollback', 'status', 'history', 'get']);

/** The namespace that the words of a command name, also as an object; undefined without one. */
function namespaceOf(words: readonly string[]): string | undefined {
  const at = words.findIndex((word) => /^(?:-n|--namespace|namespace)$/.test(word));
  return at === -1 ? words.find((word) => word.startsWith('--namespace='))?.split('=')[1] : words[at + 1];
}

test('every command of helm that a page shows names the namespace', () => {
  const inBlocks = pages.flatMap((page) => scriptsOf(page).flatMap(shellCommands));
  const inline = pages.flatMap((page) =>
    Array.from(readPage(page).matchAll(/`(helm [^`\n]+)`/g), ([, text = '']) => text),
  );
  const commands = inBlocks.filter(([program, verb = '']) => program === 'helm' && verbs.has(verb));
  expect(commands.length).toBeGreaterThan(12);
  for (const command of commands) expect([...command, namespaceOf(command)].at(-1)).toBe(defaultNamespace);
  const named = inline.map((text) => namespaceOf(text.split(' '))).filter((name) => name !== undefined);
  expect(named.length).toBeGreaterThan(0);
  expect(new Set(named)).toEqual(new Set([defaultNamespace]));
});

test('every command of kubectl on the installation names the namespace', () => {
  const commands = pages
    .flatMap((page) => scriptsOf(page).flatMap(shellCommands))
    .filter(([program]) => program === 'kubectl')
    .filter((words) => words.some((word) => ours.test(word)) || namespaceOf(words)?.startsWith('keyframe'));
  expect(commands.length).toBeGreaterThan(12);
  for (const command of commands)
    expect([command.join(' '), namespaceOf(command)]).toEqual([command.join(' '), defaultNamespace]);
});

// Objects of a release named keyframe.
const ours =
  /^(?:(?:deployment|service|job)\/keyframe\S*|keyframe-(?:root-key|admin|postgres|db-app|db-run|recovered|controller))$/;

interface Manifest {
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
  readonly subjects?: readonly { readonly name: string; readonly namespace?: string }[];
  readonly spec?: { readonly destination?: { readonly namespace?: string } };
}

function manifests(): Manifest[] {
  const files = globSync('examples/**/*.yaml', { cwd: checkoutDirectory });
  const texts = files.map((file) => readFileSync(join(checkoutDirectory, file), 'utf8'));
  const shown = pages.flatMap((page) => fencedBlocks(readPage(page), 'yaml').map(({ text }) => text));
  return [...texts, ...shown]
    .flatMap((text) => parseAllDocuments(text))
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

test('manifests place the installation and the controller’s account in the namespace', () => {
  const all = manifests();
  const accounts = all.flatMap(({ subjects = [] }) => subjects).filter(({ name }) => name === 'keyframe-controller');
  const releases = all.filter(({ kind, metadata }) => kind === 'HelmRelease' && metadata?.name === 'keyframe');
  const destinations = all.filter(({ kind, metadata }) => kind === 'Application' && metadata?.name === 'keyframe');
  const places = [
    ...accounts.map(({ namespace }) => namespace),
    ...releases.map(({ metadata }) => metadata?.namespace),
    ...destinations.map(({ spec }) => spec?.destination?.namespace),
  ];
  expect([accounts.length, releases.length, destinations.length].every((count) => count > 0)).toBe(true);
  expect(new Set(places)).toEqual(new Set([defaultNamespace]));
});
