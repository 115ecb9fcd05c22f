import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { commandTable } from '../../../src/cli/command-table.ts';
import { commandShapes } from '../../../src/cli/output/command-shapes.ts';
import { summaries } from '../../../src/cli/generated/summaries.ts';
import { cliDocs } from '../../../tools/generate/cli-docs.ts';
import { nonEmpty } from '../../support/fixtures/non-empty.ts';

/** Every command with its summary, from its module. */
async function commands(): Promise<{ words: string; summary: string }[]> {
  const all = commandTable.flatMap(({ entries }) =>
    entries.flatMap((entry) => {
      if (!('commands' in entry)) return [{ words: entry.name, entry }];
      return entry.commands.map((child) => ({ words: `${entry.name} ${child.name}`, entry: child }));
    }),
  );
  return await Promise.all(all.map(async ({ words, entry }) => ({ words, summary: (await entry.load()).summary })));
}

const page = readFileSync(join(checkoutDirectory, 'docs', 'cli.md'), 'utf8');

test('docs/cli.md is the help that the command shows', async () => {
  expect(await cliDocs()).toBe(page);
});

test('docs/cli.md has a section with usage and summary for each command and each group of commands', async () => {
  const entries = commandTable.flatMap(({ entries: all }) => all);
  const groups = entries.flatMap((entry) => ('commands' in entry ? [entry] : []));
  const known = [
    ...groups.map(({ name, summary }) => ({ title: `keyframe ${name}`, summary })),
    ...(await commands()).map(({ words, summary }) => ({ title: `keyframe ${words}`, summary })),
  ];
  expect(known.length).toBeGreaterThan(50);
  for (const { title, summary } of known) {
    const [, section = ''] = page.split(`\n## ${title}\n`);
    const text = section.split('\n## ')[0]?.replaceAll(/\s+/g, ' ');
    expect(text).toContain(`Usage: ${title}`);
    expect(text).toContain(summary);
  }
  const titles = Array.from(page.matchAll(/^## (keyframe.*)$/gm), ([, title = '']) => title);
  expect(titles.toSorted()).toEqual(['keyframe', ...known.map(({ title }) => title)].toSorted());
});

test('the summaries that lists of commands show are those of the commands, in the same order', async () => {
  expect(Object.entries(summaries)).toEqual((await commands()).map(({ words, summary }) => [words, summary]));
  for (const summary of Object.values(summaries)) expect(summary).toMatch(/^[A-Z].*[^.]$/);
});

test('src/cli/output/command-shapes.ts names the shapes of each command', async () => {
  const words = (await commands()).map((command) => command.words);
  expect(Object.keys(commandShapes).toSorted()).toEqual(words.toSorted());
});

test('every command has an example, and each shown line begins a command that there is', () => {
  const sections = page
    .split('\n## ')
    .slice(1)
    .filter((section) => section.startsWith('keyframe'));
  const titles = sections.map((section) => section.slice(0, section.indexOf('\n')));
  for (const section of nonEmpty(sections.filter((one) => !one.includes('\nCommands:')))) {
    expect(section).toContain('\nExamples:\n');
  }
  const lines = page.split('\n').filter((line) => line.startsWith('  keyframe '));
  for (const line of nonEmpty(lines.filter((one) => !one.includes('keyframe --')))) {
    expect(titles.some((title) => title.includes(' ') && line.trim().startsWith(title))).toBe(true);
  }
});

test('the scope flags of docs/interface.md 4.9 have their letters, and -p of create-service is the permission', () => {
  const of = (title: string): string => page.slice(page.indexOf(`\n## keyframe ${title}\n`)).split('\n## ')[1] ?? '';
  for (const title of ['snapshot create', 'snapshot list', 'versions', 'rollback', 'pull']) {
    for (const flags of ['-o, --org', '-p, --project', '-e, --env']) expect(of(title)).toContain(flags);
  }
  expect(of('snapshot create')).toMatch(/-n, --name <name>[\s\S]*-d, --desc <description>/);
  expect(of('versions')).toMatch(/--limit <n> .*\(default: 20\)/);
  expect(of('token create-service')).toMatch(
    /-n, --name[\s\S]*-s, --scope[\s\S]*--project-id <uuid>[\s\S]*-p, --permission/,
  );
  expect(of('token create-service')).toContain('--expires-in <days>');
  expect(of('token revoke-service')).toContain('--id <id>');
});
