import { expect, test } from '@jest/globals';
import { RequestRecorder } from '../contract/request-recorder.ts';
import { type CliFolder, withCliSite } from '../../support/cli/cli-site.ts';

let folder: CliFolder;
let recorder: RequestRecorder;

const secrets = {
  DB_PASSWORD: `it's "both" and \`ticks\` #\r\n`,
  DB_USER: 'app',
  DB_HOST: '',
  NODE_OPTIONS: '--no-warnings',
  OTHER: 'hunter2',
};

const resources = withCliSite(async (site) => {
  recorder = await RequestRecorder.start(resources, `http://127.0.0.1:${site.api.port}`);
  folder = await site.newFolder();
  await folder.patch({ set: secrets });
});

test('several keys are one request for their common prefix, printed in the given order', async () => {
  const env = { KEYFRAME_URL: recorder.url };
  expect(await folder.output(['get', 'DB_USER', 'DB_HOST'], { env })).toBe('DB_USER=app\nDB_HOST=\n');
  expect(recorder.taken().map(({ method, path }) => `${method} ${path}`)).toEqual([
    `GET /api/v1/secrets/${folder.place}?prefix=DB_`,
  ]);
  await folder.output(['get', 'DB_USER', 'OTHER'], { env });
  expect(recorder.taken().map(({ path }) => path)).toEqual([`/api/v1/secrets/${folder.place}`]);
});

test('every format holds the exact values', async () => {
  const keys = ['DB_USER', 'DB_PASSWORD'];
  const { DB_PASSWORD, DB_USER } = secrets;
  const json = await folder.output(['get', ...keys, '--format', 'json']);
  expect(JSON.parse(json)).toEqual({ DB_USER, DB_PASSWORD });
  for (const format of ['env', 'json', 'yaml']) {
    const other = await folder.output(['get', ...keys, '--format', format]);
    expect(await folder.json(['diff', '-', '--format', format], { input: other })).toMatchObject({
      changed: [],
      unchanged: ['DB_PASSWORD', 'DB_USER'],
    });
  }
  const { stdout } = await folder.bash(
    `eval "$(keyframe get ${keys.join(' ')} --format shell)"; printf %s "$DB_PASSWORD"`,
  );
  expect(stdout).toBe(DB_PASSWORD);
});

test('one key with a format is a line of that format', async () => {
  expect(await folder.output(['get', 'OTHER', '--format', 'env'])).toBe('OTHER=hunter2\n');
  expect(await folder.output(['get', 'OTHER'])).toBe('hunter2');
});

test('a key that a loader acts on is printed, because the user has named it', async () => {
  expect(await folder.output(['get', 'NODE_OPTIONS', 'DB_USER'])).toBe('NODE_OPTIONS=--no-warnings\nDB_USER=app\n');
});

test('missing keys are one error that names them all, and nothing is printed', async () => {
  for (const format of [[], ['--output', 'json'], ['--format', 'yaml']]) {
    const { code, stdout, stderr } = await folder.run(['get', 'OTHER', 'NONE', 'DB_USER', 'NOR_THIS', ...format]);
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
    expect(stderr).toContain(`${folder.place} at revision 1 has no NONE, NOR_THIS`);
    expect(stderr).toContain('keyframe list -o ');
    expect(stderr).not.toContain('hunter2');
  }
});

test('at a past revision, a destroyed value of another key does no harm, and one that is asked for is named', async () => {
  await folder.patch({ set: { PAST_A: 'hunter2', PAST_B: 'b', PAST_C: 'c' } });
  const { revision } = await folder.list();
  await folder.patch({ set: { PAST_A: 'new', PAST_C: 'new' } });
  await folder.output(['destroy', 'PAST_A', '--version', '1', '--yes']);
  const past = ['--revision', String(revision)];
  expect(await folder.output(['get', 'PAST_B', 'PAST_C', ...past])).toBe('PAST_B=b\nPAST_C=c\n');
  const { code, stdout, stderr } = await folder.run(['get', 'PAST_A', 'PAST_B', 'PAST_D', ...past]);
  expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
  expect(stderr).toContain(`revision ${revision} has no PAST_D; the values of PAST_A in `);
});

test.each([
  [['A', 'A'], 'A is given twice'],
  [['A', 'B', '--version', '1'], '--version is for one key'],
  [['A', '--version', '1', '--revision', '1'], '--version and --revision cannot be combined'],
  [['A', '--version', '1', '--format', 'env'], '--version and --format cannot be combined'],
  [['A', 'B', '--format', 'env', '--output', 'json'], 'does not go with --format'],
  [['A', 'hunter2 x'], 'argument 2 is not a key: it must'],
  [['A', 'PASSWORD=hunter2'], 'a key cannot contain ='],
])('%j is refused', async (args, message) => {
  const { code, stdout, stderr } = await folder.run(['get', ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr).not.toContain('hunter2');
});

test('a terminal shows the keys alone, and with --reveal the values', async () => {
  const hidden = await folder.onTerminal(['get', 'DB_USER', 'OTHER']);
  expect(hidden.code).toBe(0);
  expect(hidden.shown).toContain('DB_USER=(hidden)\r\nOTHER=(hidden)\r\n');
  expect(hidden.shown).not.toContain('hunter2');
  const json = await folder.onTerminal(['get', 'DB_USER', 'OTHER', '--output', 'json']);
  expect(json.shown).not.toContain('hunter2');
  const { shown } = await folder.onTerminal(['get', 'DB_USER', 'OTHER', '--reveal']);
  expect(shown).toContain('OTHER=hunter2\r\n');
});
