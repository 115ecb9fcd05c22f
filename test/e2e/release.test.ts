import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { copyFileSync, cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../tools/checkout.ts';
import { makeRelease } from '../../tools/release/make-release.ts';
import { neededValues, runHelm } from '../support/cluster/helm.ts';
import { nonEmpty } from '../support/fixtures/non-empty.ts';

/** What `npm run release` makes, but for the image: test/image tries that. */

const folder = mkdtempSync(join(tmpdir(), 'keyframe-release-'));
const path = (name: string): string => join(folder, name);
const { version, dependencies, devDependencies } = JSON.parse(
  readFileSync(join(checkoutDirectory, 'package.json'), 'utf8'),
) as { version: string; dependencies: Record<string, string>; devDependencies: Record<string, string> };
const files = [
  'SHA256SUMS',
  'SHA256SUMS.sig',
  'keyframe',
  `keyframe-${version}-notes.md`,
  `keyframe-${version}.cdx.json`,
  `keyframe-${version}.tgz`,
];
const { privateKey: signingKey, publicKey } = generateKeyPairSync('ed25519');

beforeAll(async () => {
  writeFileSync(path('keyframe-0.0.1.tgz'), 'of an earlier release');
  await makeRelease({ folder, withImage: false, signingKey });
});

afterAll(() => rmSync(folder, { recursive: true }));

test('holds the command, the chart, the SBOM and the notes, and the signed checksums of all of them', () => {
  expect(readdirSync(folder).toSorted()).toEqual(files.toSorted());
  const lines = readFileSync(path('SHA256SUMS'), 'utf8').trimEnd().split('\n');
  const others = files.filter((name) => !name.startsWith('SHA256SUMS'));
  const sum = (name: string): string =>
    createHash('sha256')
      .update(readFileSync(path(name)))
      .digest('hex');
  expect(lines.toSorted()).toEqual(others.map((name) => `${sum(name)}  ${name}`).toSorted());
});

test('the commands of the notes accept the files, and refuse changed checksums', () => {
  const [, commands = ''] =
    /```sh\n([^]*?)\n```/.exec(readFileSync(path(`keyframe-${version}-notes.md`), 'utf8')) ?? [];
  const copy = mkdtempSync(join(tmpdir(), 'keyframe-release-copy-'));
  try {
    cpSync(folder, copy, { recursive: true });
    writeFileSync(join(copy, 'keyframe-release.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
    const check = (): string =>
      spawnSync('sh', ['-e', '-c', `(${commands}) 2>&1`], { cwd: copy, encoding: 'utf8' }).stdout;
    expect(check()).toMatch(/^Signature Verified Successfully\n(?:\S+: OK\n){4}$/);
    writeFileSync(join(copy, 'keyframe'), 'changed');
    expect(check()).toContain('keyframe: FAILED');
    writeFileSync(join(copy, 'SHA256SUMS'), 'changed');
    expect(check()).toBe('Signature Verification Failure\n');
  } finally {
    rmSync(copy, { recursive: true });
  }
});

test.each([
  ['no package.json', undefined],
  ['one of ES modules', '{"type":"module"}'],
  ['one of CommonJS modules', '{"type":"commonjs"}'],
])('the command runs and is of this release in a folder with %s', (_name, manifest) => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'keyframe-command-'));
  try {
    if (manifest !== undefined) writeFileSync(join(elsewhere, 'package.json'), manifest);
    const command = join(elsewhere, 'keyframe');
    copyFileSync(path('keyframe'), command);
    const token = { KEYFRAME_URL: 'http://127.0.0.1:9', KEYFRAME_TOKEN: 'none' };
    const env = { ...token, HOME: elsewhere, PATH: dirname(process.execPath) };
    const run = (...args: string[]): string =>
      execFileSync(command, args, { encoding: 'utf8', env, cwd: elsewhere, stdio: 'pipe' });
    expect(run('--version')).toBe(`${version}\n`);
    // The bundle keeps what reads YAML as a text, which it compiles at this moment.
    writeFileSync(join(elsewhere, 'bad.yaml'), 'A: [1\nB: x: y\n');
    expect(() => run('push', 'bad.yaml', '-o', 'a', '-p', 'b', '-e', 'c')).toThrow(
      'bad.yaml: line 2: is not valid YAML',
    );
  } finally {
    rmSync(elsewhere, { recursive: true });
  }
});

test('the chart’s package renders what the chart renders', async () => {
  const place = ['--namespace', 'keyframe', ...neededValues];
  const chart = join(checkoutDirectory, 'charts', 'keyframe');
  const packed = await runHelm(['template', 'keyframe', path(`keyframe-${version}.tgz`), ...place]);
  expect(packed).toBe(await runHelm(['template', 'keyframe', chart, ...place]));
});

test('the SBOM lists what the programs need, and nothing of the development alone', () => {
  const sbom = JSON.parse(readFileSync(path(`keyframe-${version}.cdx.json`), 'utf8')) as {
    bomFormat: string;
    components: { purl: string; version: string }[];
  };
  expect(sbom.bomFormat).toBe('CycloneDX');
  const listed = sbom.components.map(({ purl }) => decodeURIComponent(purl));
  for (const [name, of] of nonEmpty(Object.entries(dependencies))) expect(listed).toContain(`pkg:npm/${name}@${of}`);
  expect(listed).not.toContain(`pkg:npm/jest@${devDependencies['jest']}`);
});

test('the same commit gives the same bytes again', async () => {
  const before = readFileSync(path('SHA256SUMS'), 'utf8');
  await makeRelease({ folder, withImage: false, signingKey });
  expect(readFileSync(path('SHA256SUMS'), 'utf8')).toBe(before);
});
