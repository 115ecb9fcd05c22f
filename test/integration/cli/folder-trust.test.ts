import { execFileSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { type CliFolder, type CliSite, withCliSite } from '../../support/cli/cli-site.ts';

let site: CliSite;
let folder: CliFolder;
let content: string;

withCliSite((given) => {
  site = given;
});

/** A folder with a file that came with another user's repository. */
beforeEach(async () => {
  folder = await site.newFolder();
  await folder.patch({ set: { A: 'hunter2' } });
  rmSync(trustFile());
  content = folder.read('.keyframe.json');
});

const trustFile = (): string => join(dirname(folder.userFile), 'trusted-folders.json');
const program = ['run', '--', 'sh', '-c', 'echo ran $A'];
const scopeFlags = (): string[] => {
  const { organization, project, environment } = folder.scope;
  return ['-o', organization, '-p', project, '-e', environment];
};

describe('a folder file', () => {
  test('is not followed before it is trusted, and the error shows what it says and what to do', async () => {
    const { code, stdout, stderr } = await folder.run(program);
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    const path = folder.pathOf('.keyframe.json');
    expect(stderr).toContain(`error: ${path} is not trusted yet. It says: environment ${folder.place}\n`);
    expect(stderr).toContain('keyframe trust (in CI: KEYFRAME_TRUST_FOLDER=1)');
    expect(stderr).toContain('-o, -p, -e and --url');
  });

  test('is followed after keyframe trust, also from below it, until it changes or the trust is withdrawn', async () => {
    const said = await folder.output(['trust']);
    expect(said).toContain(folder.pathOf('.keyframe.json'));
    expect(said).toContain(folder.place);
    expect(statSync(trustFile()).mode & 0o777).toBe(0o600);
    expect(await folder.output(program)).toBe('ran hunter2\n');
    mkdirSync(folder.pathOf('below'));
    expect(await folder.output(program, { folder: 'below' })).toBe('ran hunter2\n');
    const { environment } = folder.scope;
    // The second is no longer than what was trusted.
    for (const other of [content.replace('{', '{ '), content.replace(environment, 'x'.repeat(environment.length))]) {
      expect(other).not.toBe(content);
      folder.write('.keyframe.json', other);
      const changed = await folder.run(program);
      expect(changed.code).toBe(7);
      expect(changed.stderr).toContain('has changed since you trusted it');
    }
    folder.write('.keyframe.json', content);
    expect((await folder.run(program)).code).toBe(0);
    expect((await folder.run(['trust', '--withdraw'])).stderr).toContain('is trusted no longer');
    expect((await folder.run(['trust', '--withdraw'])).stderr).toContain('was not trusted');
    expect((await folder.run(program)).code).toBe(7);
  });

  test('that is trusted in one place is not trusted in another', async () => {
    await folder.output(['trust']);
    mkdirSync(folder.pathOf('copy'));
    folder.write('copy/.keyframe.json', content);
    expect((await folder.run(program, { folder: 'copy' })).code).toBe(7);
  });

  test('is followed in CI where KEYFRAME_TRUST_FOLDER is 1, and nothing is stored', async () => {
    for (const [value, code] of [
      ['1', 0],
      ['true', 0],
      ['0', 7],
      ['yes', 2],
    ] as const) {
      expect((await folder.run(program, { env: { KEYFRAME_TRUST_FOLDER: value } })).code).toBe(code);
    }
    expect(existsSync(trustFile())).toBe(false);
  });

  test('that is not trusted hinders nothing that does not need it', async () => {
    expect((await folder.run(['list', ...scopeFlags()])).code).toBe(0);
    expect((await folder.run(['org', 'list'])).code).toBe(0);
    expect((await folder.run(['--version'])).code).toBe(0);
    // Its organization alone is needed here, and not given.
    expect((await folder.run(['project', 'list'])).code).toBe(7);
  });

  test('gives no server address before it is trusted', async () => {
    folder.write('.keyframe.json', JSON.stringify({ url: 'http://127.0.0.1:9' }));
    const { code, stderr } = await folder.run(['org', 'list'], { env: { KEYFRAME_URL: undefined } });
    expect(code).toBe(7);
    expect(stderr).toContain('server http://127.0.0.1:9');
    const login = await folder.run(['login', '--token', 'kf_pat_x'], { env: { KEYFRAME_URL: undefined } });
    expect(login.code).toBe(7);
  });

  test('that init writes is trusted, and init takes no address out of one that is not', async () => {
    folder.write('.keyframe.json', JSON.stringify({ url: 'http://127.0.0.1:9' }));
    expect((await folder.run(['init', ...scopeFlags()])).code).toBe(7);
    folder.write('.keyframe.json', JSON.stringify({ organization: 'elsewhere' }));
    await folder.output(['init', ...scopeFlags()]);
    expect(await folder.output(program)).toBe('ran hunter2\n');
  });

  test('is refused where it is too long, and a broken list of trusted files says so', async () => {
    folder.write('.keyframe.json', `${content}${' '.repeat(17_000)}`);
    expect((await folder.run(['trust'])).stderr).toContain('is longer than 16384 bytes');
    folder.write('.keyframe.json', content);
    await folder.output(['trust']);
    for (const wrong of ['{', '[]', '{"a": 1}']) {
      folder.write('../config/keyframe/trusted-folders.json', wrong);
      const { code, stderr } = await folder.run(program);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('Remove it') });
    }
  });

  test('without one, trust says how to write it', async () => {
    rmSync(folder.pathOf('.keyframe.json'));
    const { code, stderr } = await folder.run(['trust']);
    expect(code).toBe(2);
    expect(stderr).toContain('keyframe init');
  });
});

// Only root can give files away.
const asRoot = process.getuid?.() === 0 ? describe : describe.skip;

asRoot("another user's folder file", () => {
  test.each([
    ['the file', (): void => lchownSync(folder.pathOf('.keyframe.json'), 65_534, 65_534)],
    ['its folder', (): void => chownSync(folder.folder, 65_534, 65_534)],
  ])('is never used: %s belongs to that user', async (_, give) => {
    give();
    for (const env of [{}, { KEYFRAME_TRUST_FOLDER: '1' }]) {
      const { code, stderr } = await folder.run(program, { env });
      expect(code).toBe(2);
      expect(stderr.match(/is not used/g)).toHaveLength(1);
      expect(stderr).toContain('belongs to another user, or its folder does, and is not used');
      expect(stderr).toContain('there is no .keyframe.json in this directory or above');
    }
    expect((await folder.run(['trust'])).code).toBe(2);
    expect(existsSync(trustFile())).toBe(false);
    expect((await folder.run(['list', ...scopeFlags()])).code).toBe(0);
  });

  test.each([
    ['a pipe', (path: string): unknown => execFileSync('mkfifo', [path])],
    ['a link to a device without an end', (path: string): void => symlinkSync('/dev/zero', path)],
    ['malformed', (path: string): void => writeFileSync(path, '{')],
    ['huge', (path: string): void => writeFileSync(path, ' '.repeat(20_000))],
  ])('that is %s hinders no command below it', async (_, make) => {
    await folder.output(['trust']);
    mkdirSync(folder.pathOf('below/here'), { recursive: true });
    const path = folder.pathOf('below/.keyframe.json');
    make(path);
    lchownSync(path, 65_534, 65_534);
    const { code, stdout, stderr } = await folder.run(program, { folder: 'below/here' });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'ran hunter2\n' });
    expect(stderr).toBe(`warning: ${path} belongs to another user, or its folder does, and is not used\n`);
  });

  test('is not written by init into a folder of that user', async () => {
    rmSync(folder.pathOf('.keyframe.json'));
    chownSync(folder.folder, 65_534, 65_534);
    const { code, stderr } = await folder.run(['init', ...scopeFlags()]);
    expect(code).toBe(2);
    expect(stderr).toContain('belongs to another user');
    expect(existsSync(folder.pathOf('.keyframe.json'))).toBe(false);
    expect(() => readFileSync(trustFile())).toThrow('ENOENT');
  });
});
