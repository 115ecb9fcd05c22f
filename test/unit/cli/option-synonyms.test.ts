import { describe, expect, test } from '@jest/globals';
import { commandTable } from '../../../src/cli/command-table.ts';
import type { CommandSection } from '../../../src/cli/core/command-section.ts';
import { type CommandDefinition, defineCommand } from '../../../src/cli/core/command.ts';
import { reportFailure } from '../../../src/cli/core/failure.ts';
import { globalOptionList } from '../../../src/cli/core/global-options.ts';
import { suggestedOptions } from '../../../src/cli/core/option-synonyms.ts';
import { createProgram } from '../../../src/cli/core/program.ts';
import { readEnvironment } from '../../../src/cli/settings/environment.ts';
import { Io } from '../../../src/cli/terminal/io.ts';

function never(): never {
  throw new Error('it is not called');
}

/** What a command line prints on standard error. */
async function complaint(args: readonly string[], table?: readonly CommandSection[]): Promise<string> {
  let text = '';
  const err = { write: (part: string): void => void (text += part) };
  const streams = { stdin: { [Symbol.asyncIterator]: () => ({ next: never }) }, stdout: err, stderr: err };
  const environment = readEnvironment({ HOME: '/nowhere' }, '/');
  const program = createProgram({
    environment,
    streams,
    endWith: never,
    firstWord: args[0],
    ...(table === undefined ? {} : { table }),
  });
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    reportFailure(error, new Io({ streams, hasColor: false, isJson: false }));
  }
  return text;
}

describe('an option of another program', () => {
  test.each([
    ['list -q', "unknown option '-q' (Did you mean --output name?)"],
    ['list --quiet', "unknown option '--quiet' (Did you mean --output name?)"],
    ['list --plain', "unknown option '--plain' (Did you mean --reveal?)"],
    ['member list --plain', "unknown option '--plain' (Did you mean --output name?)"],
    ['member list --format json', "unknown option '--format' (Did you mean --output?)"],
    ['get A -c production', "unknown option '-c' (Did you mean --env?)"],
    ['org list -o json', "unknown option '-o' (Did you mean --output?)"],
    ['unset A --force', "unknown option '--force' (Did you mean --yes?)"],
    ['set A=1 -m why', "unknown option '-m' (Did you mean --comment?)"],
    ['list --projectId x', "unknown option '--projectId' (Did you mean --project?)"],
  ])('%s names ours', async (line, message) => {
    expect(await complaint(line.split(' '))).toContain(`error: ${message}\n`);
  });

  test('is named without a suggestion if there is nothing like it', async () => {
    expect(await complaint(['list', '-A'])).toContain("error: unknown option '-A'\n");
  });

  test('is still corrected if it is mistyped', async () => {
    expect(await complaint(['list', '--projekt', 'x'])).toContain('(Did you mean --project?)');
  });

  test('is not repeated if it may be a value', async () => {
    expect(await complaint(['list', '--Swordfish17'])).not.toContain('wordfish');
    expect(await complaint(['list', '--token=kf_svc_secret'])).not.toContain('secret');
  });
});

test('each suggestion is an option of a command', async () => {
  const entries = commandTable.flatMap(({ entries: all }) => all);
  const loads = entries.flatMap((entry) => ('commands' in entry ? entry.commands : [entry]));
  const definitions = await Promise.all(loads.map(async (command) => await command.load()));
  const options = [...definitions.flatMap(({ options: own = {} }) => Object.values(own)), ...globalOptionList];
  const known = new Set(options.flatMap(({ flags }) => flags.split(/[ ,]+/)));
  expect(suggestedOptions.filter((option) => !known.has(option.split(' ')[0] ?? ''))).toEqual([]);
});

describe('an organization called as a format', () => {
  test('gets a hint if the rest of the place is missing', async () => {
    const text = await complaint(['list', '-o', 'json']);
    expect(text).toContain('the project and environment are missing');
    expect(text).toContain('\n  -o names the organization. For the format, use --output, such as --output json\n');
    expect(await complaint(['list', '-o', 'acme'])).not.toContain('--output');
  });
});

describe('--json', () => {
  const formats: string[] = [];
  const definition: CommandDefinition = defineCommand({
    summary: 'Show the format',
    examples: [],
    run: ({ printer }) => Promise.resolve(void formats.push(printer.format)),
  });
  const table: readonly CommandSection[] = [
    { title: 'Test', entries: [{ name: 'probe', load: () => Promise.resolve(definition) }] },
  ];

  test.each([
    ['behind the command', ['probe', '--json']],
    ['before the command', ['--json', 'probe']],
    ['beside the same format', ['probe', '--json', '--output', 'json']],
  ])('%s is --output json', async (_, args) => {
    formats.length = 0;
    expect(await complaint(args, table)).toBe('');
    expect(formats).toEqual(['json']);
  });

  test('beside another format is refused', async () => {
    formats.length = 0;
    expect(await complaint(['probe', '--json', '--output', 'yaml'], table)).toContain(
      'error: --json and --output name two formats',
    );
    expect(formats).toEqual([]);
  });
});
