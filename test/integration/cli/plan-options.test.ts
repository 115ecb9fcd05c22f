import { beforeEach, expect, test } from '@jest/globals';
import { commandTable } from '../../../src/cli/command-table.ts';
import { type CliFolder, type CliSite, withCliSite } from '../../support/cli/cli-site.ts';

let site: CliSite;
let folder: CliFolder;

withCliSite((given) => {
  site = given;
});
beforeEach(async () => {
  folder = await site.newFolder();
  await folder.patch({ set: { A: '1' } });
  await folder.output(['snapshot', 'create', '-n', 'before']);
  await folder.patch({ set: { A: '2' } });
  await folder.output(['snapshot', 'create', '-n', 'behind']);
  folder.write('new.env', 'A=3\nB=1\n');
});

const planFlags = ['--plan', '--dry-run'];

/** A line of each command that can show only its plan. Each of them would change something without the flag. */
const lines: Readonly<Record<string, () => Promise<readonly string[]> | readonly string[]>> = {
  push: () => ['push', 'new.env'],
  undo: () => ['undo', '2'],
  promote: async () => {
    const other = await site.newFolder();
    await other.patch({ set: { C: '1' } });
    return ['promote', '--from', other.scope.environment];
  },
  'snapshot restore': () => ['snapshot', 'restore', 'before'],
  'snapshot prune': () => ['snapshot', 'prune', '--keep-last', '1'],
  'env protect': () => ['env', 'protect', folder.scope.environment],
};

async function commandsWithPlans(): Promise<string[]> {
  const entries = commandTable.flatMap(({ entries: all }) => all);
  const commands = entries.flatMap((entry) => {
    if (!('commands' in entry)) return [{ words: entry.name, command: entry }];
    return entry.commands.map((command) => ({ words: `${entry.name} ${command.name}`, command }));
  });
  const found = await Promise.all(
    commands.map(async ({ words, command }) => {
      const flags = Object.values((await command.load()).options ?? {}).map((option) => option.flags);
      return planFlags.some((flag) => flags.includes(flag)) ? [words] : [];
    }),
  );
  return found.flat();
}

/** What the commands could change. */
async function state(): Promise<unknown> {
  const { revisionId } = await folder.list();
  const snapshots = await folder.output(['snapshot', 'list', '--output', 'json']);
  const environment = await folder.output(['env', 'show', folder.scope.environment, '--output', 'json']);
  return { revisionId, snapshots, environment };
}

test('there is a line for each command with a plan', async () => {
  // clusters.test.ts has the plan of `cluster forget`, which is about no environment.
  expect((await commandsWithPlans()).sort()).toEqual(['cluster forget', ...Object.keys(lines)].sort());
});

test.each(Object.keys(lines))('%s says of its plan that nothing was changed', async (command) => {
  const line = await lines[command]?.();
  const before = await state();
  for (const flag of planFlags) {
    const { code, stdout, stderr } = await folder.run([...(line ?? []), flag]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining(`Nothing was changed in ${folder.place} (--plan): `),
    });
    expect(stdout).not.toMatch(/Protected: +yes/);
    const json = await folder.run([...(line ?? []), flag, '--json']);
    expect(json).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\{/) });
  }
  expect(await state()).toEqual(before);
});
