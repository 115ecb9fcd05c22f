import { CommanderError } from 'commander';
import { expect, test } from '@jest/globals';
import { silence } from '../../../tools/generate/cli-docs.ts';
import { CliError } from '../../../src/cli/core/cli-error.ts';
import { commandTable } from '../../../src/cli/command-table.ts';
import type { CommandEntry, CommandSection } from '../../../src/cli/core/command-section.ts';
import { readEnvironment } from '../../../src/cli/settings/environment.ts';
import { createProgram, loadAll } from '../../../src/cli/core/program.ts';
import { pages, readPage, scriptsOf } from '../../support/fixtures/documentation.ts';
import { shellCommands } from '../../support/cli/shell-commands.ts';

/** Every `keyframe …` that a page shows is one that the command line takes. */

const idle = (entry: CommandEntry): CommandEntry => ({
  ...entry,
  load: async () => ({ ...(await entry.load()), run: async () => undefined }),
});

// The real commands, with their options and arguments, that do nothing.
const table: readonly CommandSection[] = commandTable.map((section) => ({
  ...section,
  entries: section.entries.map((entry) =>
    'commands' in entry ? { ...entry, commands: entry.commands.map(idle) } : idle(entry),
  ),
}));

/** What the command line finds wrong with these words. */
async function faultOf(words: readonly string[]): Promise<{ code: string; message: string } | undefined> {
  const streams = { stdin: process.stdin, stdout: silence(), stderr: silence() };
  const program = createProgram({ environment: readEnvironment({}, '/'), streams, endWith: () => undefined, table });
  await loadAll(program);
  try {
    await program.parseAsync([...words], { from: 'user' });
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return undefined;
    if (error instanceof CommanderError || error instanceof CliError) {
      return { code: error instanceof CommanderError ? error.code : 'cli', message: error.message };
    }
    throw error;
  }
}

interface Shown {
  readonly page: string;
  readonly words: readonly string[];
}

function commandsOf(page: string, scripts: readonly string[]): Shown[] {
  return scripts
    .flatMap(shellCommands)
    .filter(([program, ...rest]) => program === 'keyframe' && rest.length > 0)
    .map(([, ...words]) => ({ page, words }));
}

const shown = pages.flatMap((page) => commandsOf(page, scriptsOf(page)));

/** Of the help of each command, and so of docs/cli.md, which breaks their lines. */
async function examples(): Promise<Shown[]> {
  const entries = commandTable.flatMap((section) =>
    section.entries.flatMap((entry) => ('commands' in entry ? entry.commands : [entry])),
  );
  const definitions = await Promise.all(entries.map(async (entry) => await entry.load()));
  return commandsOf(
    'help',
    definitions.flatMap((definition) => definition.examples.map(({ line }) => `keyframe ${line}`)),
  );
}

async function faults(commands: readonly Shown[], isFine: (code: string) => boolean): Promise<string[]> {
  const found: string[] = [];
  for (const { page, words } of commands) {
    const fault = await faultOf(words);
    if (fault !== undefined && !isFine(fault.code))
      found.push(`${page}: keyframe ${words.join(' ')}: ${fault.message}`);
  }
  return found;
}

test('every command in a block of a page is taken by the command line', async () => {
  expect(shown.length).toBeGreaterThan(80);
  for (const page of [
    'README.md',
    'docs/coming-from.md',
    'docs/install.md',
    'docs/deleted-the-wrong-thing.md',
    'docs/leaving.md',
    'docs/tutorial.md',
  ]) {
    expect(shown.filter((one) => one.page === page).length).toBeGreaterThan(2);
  }
  expect(await faults(shown, () => false)).toEqual([]);
});

test('every example of a command is taken by it', async () => {
  const all = await examples();
  expect(all.length).toBeGreaterThan(60);
  expect(await faults(all, () => false)).toEqual([]);
});

test('every command in the prose of a page exists with its options', async () => {
  const inProse = pages.flatMap((page) =>
    commandsOf(
      page,
      Array.from(readPage(page).matchAll(/`(keyframe [a-z][^`\n]*)`/g), ([, line = '']) => line)
        .filter((line) => !/[…<]/.test(line))
        // As it has to be written in a table.
        .map((line) => line.replaceAll(String.raw`\|`, '|')),
    ),
  );
  expect(inProse.length).toBeGreaterThan(20);
  // Prose names commands without what they need: «keyframe push». A group by itself shows its help.
  const isFine = (code: string): boolean =>
    ['commander.missingArgument', 'commander.missingMandatoryOptionValue', 'commander.help'].includes(code);
  expect(await faults(inProse, isFine)).toEqual([]);
});

test.each([
  [['no-such-command']],
  [['pull', '--no-such-option']],
  [['pull', '--format', 'toml']],
  [['versions']],
  [['list', 'too', 'many']],
])('keyframe %j would be found', async (words) => {
  expect(await faultOf(words)).toBeDefined();
});
