import { describe, expect, test } from '@jest/globals';
import { type CommandContext, type CommandDefinition, defineCommand } from '../../../src/cli/core/command.ts';
import { readEnvironment } from '../../../src/cli/settings/environment.ts';
import { argument, choice, flag, integer, repeated, restArguments, text } from '../../../src/cli/core/options.ts';
import { createProgram } from '../../../src/cli/core/program.ts';

interface Seen {
  readonly args: unknown;
  readonly options: unknown;
  readonly context: CommandContext;
}

const seen: Seen[] = [];
const keep = (context: CommandContext, { args, options }: Pick<Seen, 'args' | 'options'>): Promise<void> => {
  seen.push({ args, options, context });
  return Promise.resolve();
};

const all = defineCommand({
  summary: 'x',
  arguments: { first: argument('<first>', ''), rest: restArguments('[rest...]', '') },
  options: {
    name: text('-n, --name <name>', ''),
    isOn: flag('--on', ''),
    backup: flag('--no-backup', ''),
    tags: repeated('--tag <tag>', '', 'none'),
    limit: integer('--limit <n>', '', { min: 1, max: 9, default: 2 }),
    version: integer('--version <n>', '', { min: 1 }),
    kind: choice('--kind <kind>', '', ['one', 'two'], { default: 'one' }),
  },
  examples: [],
  run: keep,
});
const through = defineCommand({
  summary: 'x',
  arguments: { command: restArguments('<command...>', '') },
  examples: [],
  passThrough: true,
  run: keep,
});

async function run(...args: string[]): Promise<Seen> {
  const load = (definition: CommandDefinition) => (): Promise<CommandDefinition> => Promise.resolve(definition);
  const program = createProgram({
    environment: readEnvironment({}, '/'),
    streams: { stdin: process.stdin, stdout: { write: () => true }, stderr: { write: () => true } },
    endWith: () => undefined,
    table: [
      {
        title: 'All',
        entries: [
          { name: 'all', load: load(all) },
          { name: 'group', summary: 'x', commands: [{ name: 'through', load: load(through) }] },
        ],
      },
    ],
  });
  await program.parseAsync(args, { from: 'user' });
  const last = seen.at(-1);
  if (last === undefined) throw new Error('it did not run');
  return last;
}

describe('a command', () => {
  test('gets its defaults', async () => {
    const { args, options } = await run('all', 'x');
    expect(args).toEqual({ first: 'x', rest: [] });
    const defaults = { isOn: false, backup: true, tags: [], limit: 2, kind: 'one' };
    expect(options).toEqual({ ...defaults, name: undefined, version: undefined });
  });

  test('gets what is given, parsed, also an option that the program has as well', async () => {
    const given = '--on --no-backup --tag a --tag b --limit 9 --version 3 --kind two -n'.split(' ');
    const { args, options } = await run('all', 'x', 'y', 'z', ...given, 'a name');
    expect(args).toEqual({ first: 'x', rest: ['y', 'z'] });
    const expected = { isOn: true, backup: false, tags: ['a', 'b'], limit: 9, version: 3, kind: 'two', name: 'a name' };
    expect(options).toEqual(expected);
  });

  test.each([
    [['--limit', '0'], '--limit must be a whole number from 1 to 9'],
    [['--limit', '10'], '--limit must be a whole number from 1 to 9'],
    [['--limit', '1e1'], '--limit must be a whole number from 1 to 9'],
    [['--version', '-1'], '--version must be a whole number, 1 or more'],
    [['--kind', 'three'], '--kind must be one of one, two'],
    [['--output', 'xml'], '--output must be one of table, json, yaml, name'],
  ])('refuses %j', async (given, message) => {
    await expect(run('all', 'x', ...given)).rejects.toThrow(message);
  });

  test('takes global options before and behind its name, the nearest first', async () => {
    const format = async (...args: string[]): Promise<string> => (await run(...args)).context.printer.format;
    expect(await format('all', 'x')).toBe('table');
    expect(await format('--output', 'json', 'all', 'x')).toBe('json');
    expect(await format('--output', 'json', 'all', 'x', '--output', 'yaml')).toBe('yaml');
    expect(await format('group', '--output', 'name', 'through', 'x')).toBe('name');
    expect((await run('--yes', 'all', 'x')).context.isConfirmed).toBe(true);
    expect((await run('all', 'x')).context.isConfirmed).toBe(false);
  });

  test('that passes on takes nothing behind its first argument for its own', async () => {
    const { args, context } = await run('group', 'through', '--yes', 'npm', '--output', 'x', '--', '-n', '--help');
    expect(args).toEqual({ command: ['npm', '--output', 'x', '--', '-n', '--help'] });
    expect(context.isConfirmed).toBe(true);
    expect((await run('group', 'through', '--', 'npm', '--yes')).args).toEqual({ command: ['npm', '--yes'] });
  });
});
