import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { writeDotenv } from '../../../src/wire/formats/dotenv.ts';
import { writeJson } from '../../../src/cli/formats/json.ts';
import { writeYaml } from '../../../src/cli/formats/yaml.ts';
import { type CliFolder, type CliSite, withCliSite } from '../../support/cli/cli-site.ts';
import { secretKeys, secretValues } from '../../unit/cli/formats/arbitraries.ts';

let site: CliSite;
let folder: CliFolder;

withCliSite((given) => {
  site = given;
});
beforeEach(async () => {
  folder = await site.newFolder();
});

/** Hundreds of secrets that are hard to write down, other ones at each run of the tests. */
const nasty = new Map([
  ...fc.sample(fc.tuple(secretKeys, secretValues), 600),
  ['LONG', '\0"\\\n'.repeat(64 * 1024)] as const,
]);
const sorted = (secrets: Iterable<readonly [string, string]>): (readonly [string, string])[] =>
  [...secrets].toSorted(([one], [other]) => (one < other ? -1 : 1));

describe('what was pushed is pulled to the byte', () => {
  const writers = { env: writeDotenv, json: writeJson, yaml: writeYaml };
  const files = { env: '.env.local', json: 'all.json', yaml: 'all.yml' };

  test.each(['env', 'json', 'yaml'] as const)('as %s, in whatever format it is pulled', async (format) => {
    folder.write(files[format], writers[format](nasty));
    await folder.output(['push', files[format], '--yes']);
    expect(await folder.secrets()).toEqual(Object.fromEntries(nasty));
    for (const other of ['env', 'json', 'yaml'] as const) {
      const pulled = await folder.output(['pull', '--format', other, '--allow-loader-variables']);
      expect(pulled === writers[other](new Map(sorted(nasty)))).toBe(true);
      const again = await folder.run(['push', '-', '--format', other, '--prune'], { input: pulled });
      // Some values have no form that all readers understand alike; the values are exact all the same.
      const stderr = again.stderr.replaceAll(/^warning: line \d+, .*\n/gm, '');
      expect({ code: again.code, stderr }).toEqual({
        code: 0,
        stderr: `Nothing to change: 0 new, 0 changed, 0 deleted, ${nasty.size} unchanged\n`,
      });
    }
    expect((await folder.list()).revision).toBe(1);
  });
});

describe('the manifest of a Kubernetes Secret', () => {
  test('in a file whose name means another format is refused with the option that reads it', async () => {
    folder.write('app.yaml', 'apiVersion: v1\nkind: Secret\ndata: {A: aHVudGVyMg==}\n');
    folder.write('app.json', '{\n  "kind": "Secret",\n  "data": {"A": "aHVudGVyMg=="}\n}\n');
    folder.write('other.yaml', 'A: [1]\n');
    const hint = '  For the manifest of a Kubernetes Secret, add --format k8s-secret\n';
    for (const file of ['app.yaml', 'app.json']) {
      const { code, stderr } = await folder.run(['push', file]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(hint)]);
    }
    expect((await folder.run(['push', 'other.yaml'])).stderr).not.toContain(hint);
  });

  const data = { GREETING: Buffer.from('grüß\n').toString('base64'), KEYSTORE: '/u3+7QA=' };
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'app' }, data });

  test('is pushed without corrupting bytes that are not text, and says which keys have such', async () => {
    const { code, stderr } = await folder.run(['push', '-', '--format', 'k8s-secret', '--yes'], { input });
    expect(code).toBe(0);
    expect(stderr).toContain(
      'warning: KEYSTORE is not text and pushed as base64; list it in spec.keys.decodeBase64 of the SecretSync\n',
    );
    expect(await folder.secrets()).toEqual({ GREETING: 'grüß\n', KEYSTORE: '/u3+7QA=' });
    const again = await folder.run(['diff', '-', '--format', 'k8s-secret'], { input });
    expect(again.code).toBe(0);
  });

  test('that was pulled is the same again', async () => {
    await folder.patch({ set: { A: '\0é', B: '' } });
    const pulled = await folder.output(['pull', '--format', 'k8s-secret']);
    const { stderr } = await folder.run(['push', '-', '--format', 'k8s-secret', '--prune'], { input: pulled });
    expect(stderr).toContain('Nothing to change: 0 new, 0 changed, 0 deleted, 2 unchanged');
  });
});

describe('the plan', () => {
  beforeEach(async () => {
    await folder.patch({ set: { SAME: 'hunter1', OTHER: 'hunter2', GONE: 'hunter3' } });
    folder.write('.env', 'SAME=hunter1\nOTHER=hunter4\nNEW=hunter5\n');
  });

  test('is shown as keys and counts, and --dry-run changes nothing', async () => {
    const { code, stdout, stderr } = await folder.run(['push', '.env', '--dry-run']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '  + NEW\n  ~ OTHER\n' });
    expect(stderr).toBe(
      `Nothing was changed in ${folder.place} (--plan): 1 new, 1 changed, 0 deleted, 1 unchanged; 1 secret not in the file left alone\n`,
    );
    const pruned = await folder.run(['push', '.env', '--dry-run', '--prune', '--output', 'json']);
    expect(JSON.parse(pruned.stdout)).toMatchObject({
      added: ['NEW'],
      changed: ['OTHER'],
      removed: ['GONE'],
      unchanged: ['SAME'],
      kept: [],
      revision: 1,
    });
    expect(stdout + stderr + pruned.stdout + pruned.stderr).not.toContain('hunter');
    expect((await folder.list()).revision).toBe(1);
  });

  test('is done in one revision, which gives new versions only to what differs', async () => {
    const { code, stdout, stderr } = await folder.run(['push', '.env', '--yes', '--comment', 'import']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'NEW\nOTHER\n' });
    expect(stderr).toContain(`Plan for ${folder.place} from .env:\n  + NEW\n  ~ OTHER\n`);
    expect(stderr).toContain(`${folder.place} is at revision 2`);
    expect(stderr).not.toContain('hunter');
    const { secrets } = await folder.list();
    expect(secrets.map(({ key, value, version }) => [key, value, version])).toEqual([
      ['GONE', 'hunter3', 1],
      ['NEW', 'hunter5', 1],
      ['OTHER', 'hunter4', 2],
      ['SAME', 'hunter1', 1],
    ]);
    expect(await folder.output(['versions', 'NEW'])).toContain('import');
  });

  test('deletes with --prune what is not in the file', async () => {
    const { stdout, stderr } = await folder.run(['push', '.env', '--prune', '--yes']);
    expect(stdout).toBe('GONE\nNEW\nOTHER\n');
    expect(stderr).toContain('  - GONE\n  + NEW\n  ~ OTHER\n');
    expect(await folder.secrets()).toEqual({ SAME: 'hunter1', OTHER: 'hunter4', NEW: 'hunter5' });
  });

  test('needs a yes: without a terminal --yes, at a terminal an answer', async () => {
    const { code, stdout, stderr } = await folder.run(['push', '.env']);
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    expect(stderr).toContain('add --yes');
    for (const [answer, expected] of [
      ['n', 7],
      ['y', 0],
    ] as const) {
      const command = folder.startOnTerminal(['push', '.env']);
      await command.shows(`Apply these changes to ${folder.place}? [y/N]`);
      command.type(`${answer}\r`);
      const end = await command.ended;
      expect(end.code).toBe(expected);
      expect(end.stdout).not.toContain('hunter');
      expect((await folder.list()).revision).toBe(expected === 0 ? 2 : 1);
    }
  });

  test('is not done when the environment has changed since it was shown', async () => {
    const command = folder.startOnTerminal(['push', '.env']);
    await command.shows('? [y/N]');
    await folder.patch({ set: { LATER: 'x' } });
    command.type('y\r');
    const { code, stdout } = await command.ended;
    expect(code).toBe(6);
    expect(stdout).toContain('run the command again');
    expect(await folder.secrets()).toMatchObject({ OTHER: 'hunter2', LATER: 'x' });
  });

  test('is not done where the caller may only read', async () => {
    const env = { KEYFRAME_TOKEN: site.world.viewer.token.reveal() };
    expect((await folder.run(['push', '.env', '--yes'], { env })).code).toBe(4);
    expect((await folder.run(['push', '.env', '--dry-run'], { env })).code).toBe(0);
    expect((await folder.list()).revision).toBe(1);
  });

  test('of an empty file with --prune is refused, without it there is nothing to do', async () => {
    folder.write('empty.env', '# nothing\n');
    const { code, stderr } = await folder.run(['push', 'empty.env', '--prune', '--yes']);
    expect(code).toBe(2);
    expect(stderr).toContain(`empty.env holds no secrets, and --prune would delete all of ${folder.place}`);
    expect((await folder.run(['push', 'empty.env'])).code).toBe(0);
    expect((await folder.list()).revision).toBe(1);
  });
});

describe('a file that is not as it must be is refused with exit code 2', () => {
  test.each([
    ['.env', 'A=1\nhunter2\n', '.env: line 2: has a name and no =; KEY= is the empty value'],
    ['x.env', "A='hunter2\n", 'x.env: line 1: a value begins with a quote that is not closed'],
    ['x.env', 'A=hunter2\nA=hunter3\n', 'x.env: A stands on line 1 and again on line 2'],
    ['x.json', '{"A": hunter2}', 'x.json: line 1: is not valid JSON'],
    ['x.json', '{"A": 5}', 'x.json: line 1: the value of A is not a string; put it in quotes'],
    ['x.JSON', '{"A": {"hunter2": "x"}}', 'x.JSON: line 1: the value of A is an object; only strings can be secrets'],
    ['x.yaml', 'A: yes\n', 'x.yaml: line 1: YAML does not take the value of A for a string'],
    ['x.yml', 'A: x\nB:\n- hunter2\n', 'x.yml: line 2: the value of B is a list or mapping'],
    ['x.yaml', 'A: [hunter2', 'x.yaml: line 1: is not valid YAML'],
    ['x.txt', 'A=hunter2', 'the name of x.txt does not show its format'],
    ['none.env', undefined, 'none.env cannot be read: there is no such file'],
    ['.', undefined, 'the name of . does not show its format'],
    ['x.env', Buffer.from([0x41, 0x3d, 0xc3]), 'x.env: it is not text in UTF-8'],
    [
      'x.env',
      Buffer.from('\uFEFFA=hunter2\r\n', 'utf16le'),
      'x.env: it is in UTF-16, which PowerShell 5 writes. Save it as',
    ],
    ['x.json', Buffer.from('{"A":"hunter2"}', 'utf16le'), 'x.json: it is in UTF-16'],
    ['x.yaml', Buffer.from('\uFEFFA: hunter2\n', 'utf16le').swap16(), 'x.yaml: it is in UTF-16'],
    ['x.env', Buffer.from('A=hunter2\n', 'utf16le'), 'x.env: it is in UTF-16'],
    ['x.json', `{"A": "${'x'.repeat(256 * 1024 + 1)}"}`, 'the value of A must be at most 262144 bytes'],
  ])('%s (%#)', async (name, content, message) => {
    if (content !== undefined) folder.write(name, content);
    const { code, stdout, stderr } = await folder.run(['push', name, '--yes']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/hunter/);
    expect((await folder.list()).revision).toBe(0);
  });

  test('more than a request may hold is reported as what it is', async () => {
    const secrets = new Map(Array.from({ length: 40 }, (_, at) => [`K${at}`, 'x'.repeat(250 * 1024)]));
    folder.write('.env', writeDotenv(secrets));
    const { code, stderr } = await folder.run(['push', '.env', '--yes']);
    expect(code).toBe(2);
    expect(stderr).toContain('error: ');
    expect((await folder.list()).revision).toBe(0);
  });

  test('standard input is a dotenv file unless --format says otherwise', async () => {
    await folder.output(['push', '-', '--yes'], { input: "A='1'" });
    await folder.output(['push', '-', '--yes', '--format', 'json'], { input: '{"B": "2"}' });
    expect(await folder.secrets()).toEqual({ A: '1', B: '2' });
    const { code, stderr } = await folder.run(['push', '-', '--yes'], { input: '{"A": "hunter2"}' });
    expect(code).toBe(2);
    expect(stderr).toContain('standard input: line 1: is neither');
    expect(stderr).not.toContain('hunter');
  });
});

describe('a file that other programs read differently', () => {
  const text = 'SURE=1\nPW=hunter#2\nURL=http://hunter/#frag\nSAID="\\"hunter\\""\n';

  beforeEach(() => {
    folder.write('.env', text);
  });

  test('is read as its author meant it, with warnings in the plan and in the result', async () => {
    const { code, stderr } = await folder.run(['push', '.env', '--yes']);
    expect(code).toBe(0);
    expect(await folder.secrets()).toEqual({
      SURE: '1',
      PW: 'hunter#2',
      URL: 'http://hunter/#frag',
      SAID: '"hunter"',
    });
    const lines = stderr.split('\n');
    expect(lines.slice(0, 3)).toEqual([
      expect.stringMatching(/^warning: line 2, PW: a # without a space before it belongs to the value here/),
      expect.stringMatching(/^warning: line 3, URL: a #/),
      expect.stringMatching(/^warning: line 4, SAID: a backslash before a quote is left out here/),
    ]);
    expect(lines.at(-2)).toMatch(/^warning: PW, URL, SAID are read differently by other programs/);
    expect(stderr).not.toContain('hunter');
    // Nothing to change is no reason to be silent.
    expect((await folder.run(['push', '.env'])).stderr).toContain('warning: line 2, PW:');
    const pulled = await folder.output(['pull', '--format', 'env']);
    expect((await folder.run(['push', '-', '--strict'], { input: pulled })).stderr).toMatch(
      /^Nothing to change: [^]*\n$/,
    );
  });

  test('is refused with --strict, and nothing is changed', async () => {
    const { code, stderr } = await folder.run(['push', '.env', '--yes', '--strict']);
    expect(code).toBe(2);
    expect(stderr).toContain('error: .env has lines that other programs read differently, and --strict refuses them\n');
    for (const line of ['  line 2, PW: ', '  line 3, URL: ', '  line 4, SAID: ']) expect(stderr).toContain(line);
    expect(stderr).not.toContain('hunter');
    expect(await folder.secrets()).toEqual({});
  });

  test('shows its warnings in the JSON of a plan and in diff', async () => {
    const plan = JSON.parse(await folder.output(['push', '.env', '--dry-run', '--output', 'json'])) as object;
    expect(plan).toMatchObject({ warnings: [{ line: 2, key: 'PW' }, { line: 3 }, { line: 4 }] });
    expect((await folder.run(['diff', '.env'])).stderr).toContain('warning: line 2, PW:');
  });
});
