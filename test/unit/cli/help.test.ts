import { CommanderError } from 'commander';
import { describe, expect, test } from '@jest/globals';
import { CliError } from '../../../src/cli/core/cli-error.ts';
import { commandTable } from '../../../src/cli/command-table.ts';
import { readEnvironment } from '../../../src/cli/settings/environment.ts';
import { createProgram } from '../../../src/cli/core/program.ts';

const entries = commandTable.flatMap(({ entries: all }) => all);
const commands = entries.flatMap((entry) => [
  [entry.name],
  ...('commands' in entry ? entry.commands.map(({ name }) => [entry.name, name]) : []),
]);

/** What a command line shows, and the code of the error that ends it. */
async function shown(...args: string[]): Promise<{ text: string; fault: string | undefined }> {
  let text = '';
  const out = { write: (part: string): void => void (text += part) };
  const streams = { stdin: { [Symbol.asyncIterator]: () => ({ next: never }) }, stdout: out, stderr: out };
  const environment = readEnvironment({ HOME: '/nowhere' }, '/');
  const program = createProgram({ environment, streams, endWith: never, firstWord: args[0] });
  try {
    await program.parseAsync(args, { from: 'user' });
    return { text, fault: undefined };
  } catch (error) {
    if (error instanceof CommanderError) return { text, fault: error.code };
    if (error instanceof CliError) return { text, fault: error.message };
    throw error;
  }
}

function never(): never {
  throw new Error('it is not asked for');
}

describe('help', () => {
  test('there are commands of all kinds', () => {
    expect(commands.length).toBeGreaterThan(60);
    expect(commands).toContainEqual(['snapshot', 'restore']);
  });

  test.each(commands.map((words) => ({ name: words.join(' '), words })))(
    'of $name is what --help shows behind it',
    async ({ words }) => {
      const behind = await shown(...words, '--help');
      expect(behind.fault).toBe('commander.helpDisplayed');
      expect(behind.text).toContain(`Usage: keyframe ${words.join(' ')} `);
      expect(behind.text).not.toMatch(/\(default: [^)]*\)\s+\(default: /);
      expect(await shown('help', ...words)).toEqual({ text: behind.text, fault: undefined });
    },
  );

  test.each([
    ['rollback', '--version <n>', 'Version to roll back to (required)'],
    ['member set', '--role <role>', 'Role in the organization (required) (choices:'],
    ['token create', '--name <name>', 'Name of the token (required)'],
  ])('of %s marks %s as required', async (words, option, text) => {
    const help = (await shown(...words.split(' '), '--help')).text.replaceAll(/\s+/g, ' ');
    expect(help).toContain(`${option} ${text}`);
  });

  test.each(commands.map((words) => [words.join(' ')]))('of %s begins with a sentence', async (words) => {
    const { text } = await shown(...words.split(' '), '--help');
    expect(text).toMatch(/^Usage: .+\n\n[A-Z][^\n]*(?:\n[^\n]+)?\.\n\n/);
  });

  test.each(commands.map((words) => [words.join(' ')]))(
    'of %s names an organization by -o, a project by -p and an environment by -e',
    async (words) => {
      const { text } = await shown(...words.split(' '), '--help');
      // There, -p is the permission.
      const project = words === 'token create-service' ? '--project' : '-p, --project';
      const expected = ['-o, --org', project, '-e, --env'];
      const named = Array.from(text.matchAll(/^ +((?:-\w, )?--(?:org|project|env)) </gm), ([, flags = '']) => flags);
      expect(expected).toEqual(expect.arrayContaining(named));
      expect(text).not.toMatch(/^Usage: .*[<[](?:org|organization|project|env|environment)[>\]]/);
    },
  );

  test('alone is that of the program', async () => {
    const { text } = await shown('--help');
    expect(text).toContain('Exit codes:');
    expect((await shown('help')).text).toBe(text);
  });

  test.each([
    [['help', 'lists']],
    [['help', 'snapshot', 'restored']],
    [['lists', '--help']],
    [['snapshot', 'restored', '--help']],
    [['--yes', 'lists', '-h']],
  ])('of a command that does not exist is an error: %j', async (args) => {
    expect(await shown(...args)).toEqual({ text: '', fault: 'commander.unknownCommand' });
  });

  test('of something below a command that has nothing below it is an error', async () => {
    expect((await shown('help', 'list', 'all')).fault).toBe('list has no commands below it');
  });
});
