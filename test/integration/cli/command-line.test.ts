import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { workingVersion } from '../../../tools/checkout.ts';
import { CliRunner } from '../../support/cli/cli.ts';
import { type TestApi, startTestApi } from '../../support/api/http.ts';
import { createWorld, type World } from '../../support/api/services.ts';

let api: TestApi;
let world: World;
let cli: CliRunner;
let url: string;
let token: string;

beforeAll(async () => {
  api = await startTestApi();
  world = await createWorld(api.services);
  url = `http://127.0.0.1:${api.port}`;
  token = world.owner.token.reveal();
  cli = await CliRunner.create();
});

afterAll(async () => {
  cli.remove();
  await api.close();
});

describe('output', () => {
  const env = (): Record<string, string> => ({ KEYFRAME_URL: url, KEYFRAME_TOKEN: token });

  test('has colours on a terminal alone, and neither with NO_COLOR nor with --no-color nor on a dumb one', async () => {
    const escape = '\u001B[1m';
    expect((await cli.onTerminal(['whoami'], [], { env: env() })).shown).toContain(escape);
    expect((await cli.run(['whoami'], { env: env() })).stdout).not.toContain(escape);
    expect((await cli.onTerminal(['whoami', '--no-color'], [], { env: env() })).shown).not.toContain('\u001B');
    expect((await cli.onTerminal(['whoami'], [], { env: { ...env(), NO_COLOR: '1' } })).shown).not.toContain('\u001B');
    expect((await cli.onTerminal(['whoami'], [], { env: { ...env(), TERM: 'dumb' } })).shown).not.toContain('\u001B');
    expect((await cli.onTerminal(['bogus', '--no-color'])).shown).not.toContain('\u001B');
  });

  test('is a table, JSON, YAML or names', async () => {
    const list = (format: string): Promise<string> => cli.output(['org', 'list', '--output', format], { env: env() });
    const { organization } = world.slugs;
    expect(await list('table')).toMatch(/^SLUG/);
    expect(JSON.parse(await list('json'))).toMatchObject({ organizations: [{ slug: organization }] });
    expect(await list('yaml')).toMatch(new RegExp(`^organizations:\n  - .*\n    slug: ${organization}`, 'm'));
    expect(await list('name')).toBe(`${organization}\n`);
    expect((await cli.run(['org', 'list', '--output', 'xml'], { env: env() })).code).toBe(2);
  });
});

describe('the command line', () => {
  test('says nothing but its help without arguments, and ends with 2', async () => {
    const { code, stdout, stderr } = await cli.run([]);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain('Usage: keyframe');
    expect((await cli.run(['snapshot'])).code).toBe(2);
  });

  test('shows its help and version and ends with 0', async () => {
    expect(await cli.output(['--help'])).toContain('Exit codes:');
    expect(await cli.output(['help', 'get'])).toContain('Usage: keyframe get');
    expect(await cli.output(['--version'])).toBe(`${workingVersion()}\n`);
  });

  test.each([
    { args: ['versions', 'A', 'swordfish-17'], says: 'too many arguments' },
    { args: ['versions', '--swordfish-17'], says: 'unknown option' },
    { args: ['swordfish-17'], says: 'unknown command' },
    { args: ['versions', 'A', '--limit', 'swordfish-17'], says: '--limit must be a whole number' },
    { args: ['audit', '--actor-type', 'swordfish-17'], says: '--actor-type must be one of user' },
  ])('repeats no word that may be a secret: $says', async ({ args, says }) => {
    const { code, stderr } = await cli.run(args);
    expect(code).toBe(2);
    expect(stderr).toContain(says);
    expect(stderr).not.toContain('swordfish');
  });

  test('reports a full output as a failure, and keeps its exit code if the report cannot be written', async () => {
    const env = { KEYFRAME_URL: url, KEYFRAME_TOKEN: token };
    const full = await cli.bash('keyframe org list > /dev/full', { env });
    expect(full).toMatchObject({ code: 1, stderr: expect.stringMatching(/^error: the output .*\(ENOSPC\).*\n$/) });
    expect((await cli.bash('keyframe bogus 2> /dev/full', { env })).code).toBe(2);
    expect((await cli.bash('keyframe bogus 2>&1 | true; exit ${PIPESTATUS[0]}', { env })).code).toBe(2);
  });

  test('an output that is closed early is no failure', async () => {
    const { code, stderr } = await cli.bash(
      'set -o pipefail; for i in 1 2 3; do keyframe completion bash; done | true',
    );
    expect(stderr).toBe('');
    expect(code).toBe(0);
  });
});

describe('completion', () => {
  const completed = async (line: string, before = ''): Promise<string[]> => {
    const script = `source <(keyframe completion bash)
${before}
COMP_WORDS=(${line}); COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 )); _keyframe; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = await cli.bash(script);
    expect(stderr).toBe('');
    return stdout.trim().split('\n');
  };

  test('of bash offers commands, the commands of a group, options, and the words of an option', async () => {
    expect(await completed("keyframe ''")).toEqual(expect.arrayContaining(['get', 'snapshot', 'completion']));
    expect(await completed('keyframe snapshot re')).toEqual(['restore']);
    expect(await completed('keyframe snapshot restore --dr')).toEqual(['--dry-run']);
    expect(await completed('keyframe token create-service --per')).toEqual(['--permission']);
    expect(await completed("keyframe token create-service -p ''")).toEqual(['read', 'read_write']);
    expect(await completed('keyframe list --output j')).toEqual(['json']);
  });

  test('of bash offers no option before a hyphen, the words of an argument, and nothing after a free option', async () => {
    expect(await completed("keyframe snapshot ''")).not.toContain('--help');
    expect(await completed('keyframe --ver')).toEqual(['--version']);
    expect(await completed("keyframe completion ''")).toEqual(['bash', 'zsh', 'fish']);
    expect(await completed("keyframe -o list --output = ''")).toEqual(['table', 'json', 'yaml', 'name', 'token']);
    expect(await completed("keyframe list -o ''")).toEqual(['']);
    expect(await completed('keyframe list -o snapshot --rev')).toEqual(['--revision', '--reveal']);
    expect(await completed('keyframe help snapshot re')).toEqual(['restore']);
  });

  test('of bash offers files where one is meant, and after run what belongs to the program', async () => {
    const files = 'compopt() { printf files; }';
    for (const line of ["keyframe push ''", "keyframe pull --file ''", "keyframe run -e x -- cat ''"]) {
      expect(await completed(line, files)).toEqual(['files']);
    }
    const handed = '_command_offset() { printf "from %s" "$1"; }';
    expect(await completed("keyframe run -e x -- git ''", handed)).toEqual(['from 5']);
    expect(await completed("keyframe run git ''", handed)).toEqual(['from 2']);
  });

  test('scripts are right in the eyes of every shell that is here', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const script = `keyframe completion ${shell} > script; ! command -v ${shell} > nothing || ${shell} -n script`;
      const { code, stderr } = await cli.bash(script);
      expect({ shell, code, stderr }).toEqual({ shell, code: 0, stderr: '' });
    }
    expect((await cli.run(['completion', 'tcsh'])).code).toBe(2);
  });
});
