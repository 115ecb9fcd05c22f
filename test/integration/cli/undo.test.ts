import { describe, expect, test } from '@jest/globals';
import type { RevertView } from '../../../src/wire/changes.ts';
import type { TestApi } from '../../support/api/http.ts';
import { type CommandWorld, withCommandWorld } from '../../support/cli/command-world.ts';
import type { CliRunner } from '../../support/cli/cli.ts';

let api: TestApi;
let world: CommandWorld['world'];
let cli: CliRunner;
let scope: string[];
let secrets: string;

withCommandWorld((given) => {
  ({ api, world, cli, scope } = given);
  const { organization, project, environment } = world.slugs;
  secrets = `/secrets/${organization}/${project}/${environment}`;
});

/** Writes values as one change; answers its number. */
async function write(set: Record<string, string>, deleted: string[] = []): Promise<number> {
  const client = api.client(world.owner.token);
  const body = { set, delete: deleted };
  return (await client.expectStatus<{ revision: number }>(200, 'PATCH', secrets, body)).revision;
}

async function values(): Promise<Record<string, string>> {
  const client = api.client(world.owner.token);
  const list = await client.expectStatus<{ secrets: { key: string; value: string }[] }>(200, 'GET', secrets);
  return Object.fromEntries(list.secrets.map(({ key, value }) => [key, value]));
}

describe('undo', () => {
  test('of an environment without a change says so', async () => {
    const { code, stderr } = await cli.run(['undo', ...scope]);
    expect(code).toBe(5);
    expect(stderr).toContain('has no change to undo');
  });

  test('shows the plan of the newest change with its signs, asks, and undoes it in one revision', async () => {
    await write({ CHANGED: 'value-1', GONE: 'value-1', STAYS: 'value-1' });
    await write({ CHANGED: 'value-2', NEW: 'value-2' }, ['GONE']);
    const declined = await cli.onTerminal(['undo', ...scope], [['[y/N]', 'n\r']]);
    expect(declined.code).toBe(7);
    expect(await values()).toMatchObject({ CHANGED: 'value-2' });
    const { code, shown } = await cli.onTerminal(
      ['undo', ...scope, '--comment', 'wrong file'],
      [['Undo revision 2 (3 secrets)', 'y\r']],
    );
    expect(code).toBe(0);
    expect(shown).toMatch(/Plan to undo revision 2 of .*\s+~ CHANGED\s+\+ GONE\s+- NEW\s/);
    expect(shown).not.toContain('value-');
    expect(await values()).toEqual({ CHANGED: 'value-1', GONE: 'value-1', STAYS: 'value-1' });
    expect(await cli.output(['history', ...scope, '--limit', '1'])).toContain('wrong file');
  });

  test('of a revision by number or id keeps later changes of other secrets; --dry-run changes nothing', async () => {
    const number = await write({ ONE: 'b' });
    await write({ OTHER: 'c' });
    const plan = await cli.json<RevertView>(['undo', String(number), '--dry-run', ...scope]);
    expect(plan).toMatchObject({ reverted: { revision: number }, deleted: ['ONE'], planHash: expect.any(String) });
    expect(await cli.output(['undo', String(number), '--dry-run', ...scope])).toBe('  - ONE\n');
    expect(await values()).toMatchObject({ ONE: 'b' });
    const done = await cli.json<RevertView>(['undo', plan.reverted.revisionId, '--yes', ...scope]);
    expect(done).toMatchObject({ deleted: ['ONE'], revision: number + 2 });
    expect(await values()).toMatchObject({ OTHER: 'c' });
    expect(await values()).not.toHaveProperty('ONE');
    expect(await cli.output(['undo', '--yes', '--output', 'name', ...scope])).toBe('ONE\n');
  });

  test('is refused for a secret that was changed again, names it, and says how to undo it too', async () => {
    await write({ TWICE: 'a' });
    const number = await write({ TWICE: 'b' });
    await write({ TWICE: 'c' });
    const { code, stderr } = await cli.run(['undo', String(number), '--yes', ...scope]);
    expect(code).toBe(6);
    expect(stderr).toContain('TWICE');
    expect(stderr).toContain('--overwrite');
    const dry = await cli.run(['undo', String(number), '--dry-run', ...scope]);
    expect(dry.code).toBe(0);
    expect(dry.stderr).toContain('1 secret would need --overwrite: TWICE');
    expect(dry.stderr).not.toContain('Plan hash');
    const allowed = await cli.run(['undo', String(number), '--plan', '--overwrite', ...scope]);
    expect(allowed.stderr).toMatch(/ \(--plan\): 1 changed, [^\n]*\nPlan hash: \S{43}\n$/);
    expect(await values()).toMatchObject({ TWICE: 'c' });
    await cli.output(['undo', String(number), '--overwrite', '--yes', ...scope]);
    expect(await values()).toMatchObject({ TWICE: 'a' });
  });

  test('applies the plan that was reviewed without a question, or nothing', async () => {
    const number = await write({ PLANNED: 'a' });
    const plan = async (): Promise<string> =>
      (await cli.json<{ planHash: string }>(['undo', String(number), '--plan', ...scope])).planHash;
    const first = await plan();
    await write({ LATER: 'y' });
    const outdated = await cli.run(['undo', String(number), '--plan-hash', first, ...scope]);
    expect([outdated.code, outdated.stderr]).toEqual([6, expect.stringContaining('plan again')]);
    expect(await values()).toMatchObject({ PLANNED: 'a' });
    const second = ['undo', String(number), '--plan-hash', await plan(), ...scope];
    expect(await cli.json(second)).toMatchObject({ deleted: ['PLANNED'] });
    expect(await values()).toMatchObject({ LATER: 'y' });
    expect(await values()).not.toHaveProperty('PLANNED');
  });

  test('of an unknown revision is not found, and of none is refused at once', async () => {
    expect((await cli.run(['undo', '99999', '--yes', ...scope])).code).toBe(5);
    const bad = await cli.run(['undo', 'newest', '--yes', ...scope]);
    expect(bad.code).toBe(2);
    expect(bad.stderr).toContain('number of a revision');
  });

  test('does nothing if another change comes before the answer, or if the revision is not the expected one', async () => {
    await write({ RACE: 'a' });
    const command = cli.startOnTerminal(['undo', ...scope]);
    await command.shows('[y/N]');
    await write({ LATER: 'x' });
    command.type('y\r');
    expect((await command.ended).code).toBe(6);
    expect(await values()).toMatchObject({ RACE: 'a', LATER: 'x' });
    expect((await cli.run(['undo', '--yes', '--expected-revision', '1', ...scope])).code).toBe(6);
    expect(await values()).toMatchObject({ LATER: 'x' });
  });
});

test('rollback --undelete restores a deleted secret', async () => {
  await write({ BACK: 'one' });
  await write({ BACK: 'two' });
  await write({}, ['BACK']);
  const refused = await cli.run(['rollback', 'BACK', '--version', '1', ...scope]);
  expect(refused.code).toBe(6);
  expect(refused.stderr).toContain('--undelete');
  const answer = await cli.json(['rollback', 'BACK', '--version', '1', '--undelete', ...scope]);
  expect(answer).toMatchObject({ version: 3, changeType: 'rolled_back' });
  expect(await values()).toMatchObject({ BACK: 'one' });
});
