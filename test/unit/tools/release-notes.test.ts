import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutDirectory, workingVersion } from '../../../tools/checkout.ts';
import { releaseNotes } from '../../../tools/release/notes.ts';

const changelog = `# Changelog

## [Unreleased]

### Added

- The next thing.

## [1.2.0] - 2027-01-02

### Added

- A thing.

### Fixed

- Another thing.

## [1.1.0] - 2027-01-01

`;
const facts = { version: '1.2.0', imagePlatform: 'linux/amd64', commandNode: '20.16 or newer', isSigned: true };

test('have the changes of their version, the platforms, and the commands that check the files', () => {
  expect(releaseNotes(changelog, facts)).toBe(`# Keyframe 1.2.0

## Added

- A thing.

## Fixed

- Another thing.

## Platforms

- The image: linux/amd64.
- The command: Linux and macOS with Node.js 20.16 or newer. The tests run on Linux.
- The chart: see \`docs/support.md\` for the versions of Kubernetes, PostgreSQL and Helm.

## Check the files

\`\`\`sh
openssl pkeyutl -verify -pubin -inkey keyframe-release.pub -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig
sha256sum --check SHA256SUMS
\`\`\`
`);
});

test('name no image and no signature that a release lacks', () => {
  const notes = releaseNotes(changelog, { ...facts, imagePlatform: undefined, isSigned: false });
  expect(notes).not.toContain('image');
  expect(notes).not.toContain('openssl');
});

test('have the unreleased changes if the version has a suffix', () => {
  expect(releaseNotes(changelog, { ...facts, version: '1.3.0-dev' })).toContain('- The next thing.');
});

test.each([
  ['1.3.0', 'lacks the section `## [1.3.0] - DATE`'],
  ['1.1.0', 'section [1.1.0] of CHANGELOG.md is empty'],
])('are refused for a version whose changes are not written: %s', (version, message) => {
  expect(() => releaseNotes(changelog, { ...facts, version })).toThrow(message);
});

test('can be made of the changelog for the working version', () => {
  const own = readFileSync(join(checkoutDirectory, 'CHANGELOG.md'), 'utf8');
  expect(releaseNotes(own, { ...facts, version: workingVersion() })).toContain(workingVersion());
});
