import { describe, expect, test } from '@jest/globals';
import { commandTable } from '../../../src/cli/command-table.ts';
import { CommanderError } from 'commander';
import { createProgram } from '../../../src/cli/core/program.ts';
import { readEnvironment } from '../../../src/cli/settings/environment.ts';
import { knownSynonyms } from '../../../src/cli/core/suggestions.ts';

const entries = commandTable.flatMap(({ entries: all }) => all);
const commands = new Set(
  entries.flatMap((entry) => [
    entry.name,
    ...('commands' in entry ? entry.commands.map(({ name }) => `${entry.name} ${name}`) : []),
  ]),
);
const out = { write: (): void => undefined };
const streams = { stdin: { [Symbol.asyncIterator]: () => ({ next: never }) }, stdout: out, stderr: out };

function never(): never {
  throw new Error('it is not called');
}

/** What the error about an unknown command suggests. */
async function suggested(...args: string[]): Promise<string | undefined> {
  const environment = readEnvironment({ HOME: '/nowhere' }, '/');
  const program = createProgram({ environment, streams, endWith: never, firstWord: args[0] });
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError) || error.code !== 'commander.unknownCommand') throw error;
    return /\(Did you mean (.*)\?\)/.exec(error.message)?.[1];
  }
  throw new Error('it is a command');
}

describe('an unknown command', () => {
  test.each([
    ['restore', 'snapshot restore'],
    ['import', 'push'],
    ['export', 'pull'],
    ['download', 'pull'],
    ['delete', 'unset'],
    ['rm', 'unset'],
    ['ls', 'list'],
    ['secrets', 'list'],
    ['revert', 'undo'],
    ['log', 'history'],
    ['config', 'init'],
    ['setup', 'init'],
    ['copy', 'promote'],
    ['recover', 'undo'],
    ['find', 'list'],
    ['doctor', 'status'],
  ])('%s suggests %s', async (word, command) => {
    expect(await suggested(word)).toBe(command);
    expect(await suggested('help', word)).toBe(command);
    expect(await suggested(word, '--help')).toBe(command);
  });

  test('that is mistyped suggests the most similar one', async () => {
    expect(await suggested('lists')).toBe('list');
    expect(await suggested('snapshot', 'creat')).toBe('create');
  });

  test.each([
    ['destry'],
    ['destroys'],
    ['snapshot', 'delet'],
    ['snapshot', 'prun'],
    ['org', 'delte'],
    ['member', 'remov'],
  ])('%s %s suggests nothing that destroys', async (...args) => {
    expect(await suggested(...args)).toBeUndefined();
  });

  test('has no synonym below a group, where it would mean something else', async () => {
    expect(await suggested('project', 'import')).toBeUndefined();
  });
});

describe('the synonyms', () => {
  test('name commands, and none is a command itself', () => {
    expect(knownSynonyms.filter(([, command]) => !commands.has(command))).toEqual([]);
    expect(knownSynonyms.filter(([word]) => commands.has(word))).toEqual([]);
  });
});
