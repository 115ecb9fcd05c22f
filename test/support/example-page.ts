import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutDirectory } from '../../scripts/checkout.ts';
import { type DocumentedCommand, documentedCommands } from './documented-commands.ts';

/** Where the examples are. */
export const examplesFolder = join(checkoutDirectory, 'examples');

/** Heading of a section of examples/README.md → its commands, as they stand; sections without commands are left out. */
export function exampleSections(): ReadonlyMap<string, readonly DocumentedCommand[]> {
  const [, ...sections] = readFileSync(join(examplesFolder, 'README.md'), 'utf8').split(/^## /m);
  const all = sections.map((text): [string, DocumentedCommand[]] => {
    const [heading = ''] = text.split('\n', 1);
    return [heading, documentedCommands(text)];
  });
  return new Map(all.filter(([, commands]) => commands.length > 0));
}

/** The section that every other one builds on. */
export const opening = 'Before';

/** Which sections of the page are tried together, by the test files of test/e2e. */
export const exampleThemes = {
  /** examples.test.ts */
  secrets: [
    'Several teams',
    'A canary beside a pinned production',
    'Tokens that rotate',
    'A token from somewhere else',
    'A Secret that is there already',
    'Keys in a Secret of somebody else',
    'Shared and own secrets',
    'One Secret in many namespaces',
    'A value made of others',
    'Pods that are restarted',
  ],
  /** examples-of-snapshots.test.ts */
  snapshots: [
    'A snapshot before each deploy',
    'A snapshot before each sync',
    'A restore that somebody else approves',
    'Snapshots every night',
    'A cluster that is built anew',
  ],
} as const;

/** Every file of the examples, as `examples/folder/file`, but the page that lists them. */
export function exampleFiles(): string[] {
  const found = readdirSync(examplesFolder, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return files
    .map((path) => join('examples', path.slice(examplesFolder.length)))
    .filter((path) => path !== 'examples/README.md');
}

/** The lines of what a command printed, or is said to print, without what differs from run to run. */
export function printedLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replaceAll(/\b(?:\d+[smhd])+\b/g, '<age>').replaceAll(/\s+/g, ' '))
    .map((line) => line.replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>').trim())
    .map((line) => line.replaceAll(/\b(before-(?:[0-9a-f]+|sync))-[a-z0-9]{5}\b/g, '$1-<random>'))
    .filter((line) => line !== '');
}
