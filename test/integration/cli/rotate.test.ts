import { describe, expect, test } from '@jest/globals';
import type { CliRunner } from '../../support/cli/cli.ts';
import { withCommandWorld } from '../../support/cli/command-world.ts';

let cli: CliRunner;
let scope: string[];

withCommandWorld((given) => {
  ({ cli, scope } = given);
});

const valueOf = (key: string): Promise<string> => cli.output(['get', key, ...scope]);
const rotate = (key: string, ...flags: string[]): string[] => ['rotate', key, ...scope, ...flags];

describe('rotate', () => {
  test('gives a secret a random value that it does not show, and prints how to destroy the one before', async () => {
    await cli.output(['set', 'PASSWORD=leaked', ...scope]);
    const { code, stdout, stderr } = await cli.run(rotate('PASSWORD', '--comment', 'leaked'));
    expect([code, stdout]).toEqual([0, expect.stringMatching(/Version: +2\n/)]);
    const value = await valueOf('PASSWORD');
    expect(value).toMatch(/^[A-Za-z0-9]{32}$/);
    expect(stdout + stderr).not.toContain(value);
    expect(await cli.output(['versions', 'PASSWORD', ...scope])).toMatch(/^v2 +updated .* leaked$/m);
    const advised = /\n +(?<line>keyframe destroy .*)\n/.exec(stderr)?.groups?.['line'] ?? 'false';
    expect((await cli.bash(`${advised} --yes`)).code).toBe(0);
    expect((await cli.run(['get', 'PASSWORD', '--version', '1', ...scope])).code).toBe(5);
  });

  test('makes it of the given length and characters', async () => {
    await cli.output(['set', 'KEY=x', ...scope]);
    await cli.output(rotate('KEY', '--length', '64', '--charset', 'hex'));
    expect(await valueOf('KEY')).toMatch(/^[0-9a-f]{64}$/);
    for (const flags of [
      ['--length', '3'],
      ['--length', '4097'],
      ['--charset', 'emoji'],
    ]) {
      expect((await cli.run(rotate('KEY', ...flags))).code).toBe(2);
    }
    expect((await cli.run(rotate('no key'))).code).toBe(2);
    expect(await cli.output(['versions', 'KEY', ...scope, '--output', 'name'])).toBe('2\n1\n');
  });

  test('of a secret that is not there says so and writes nothing, unless it may make it', async () => {
    await cli.output(['set', 'ABSENT_TOO=x', ...scope]);
    const { code, stderr } = await cli.run(rotate('ABSENT'));
    expect([code, stderr]).toEqual([5, expect.stringContaining('secret ABSENT does not exist in ')]);
    expect(stderr).toContain('add --create');
    expect(stderr).toContain(`See the secrets: keyframe list ${scope.join(' ')}`);
    expect((await cli.run(rotate('ABSENT_TO'))).stderr).toContain('Did you mean ABSENT_TOO?');
    expect((await cli.run(['get', 'ABSENT', ...scope])).code).toBe(5);
    const made = await cli.run(rotate('ABSENT', '--create'));
    expect([made.code, made.stderr]).toEqual([0, '']);
    expect(await valueOf('ABSENT')).toHaveLength(32);
    const again = await cli.json(rotate('ABSENT', '--create'));
    expect(again).toMatchObject({ set: [{ key: 'ABSENT', version: 2 }] });
    await cli.output(['unset', 'ABSENT', ...scope, '--yes']);
    expect((await cli.run(rotate('ABSENT'))).code).toBe(5);
    expect(await cli.json(rotate('ABSENT', '--create'))).toMatchObject({ set: [{ key: 'ABSENT', version: 3 }] });
  });
});
