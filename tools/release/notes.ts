import { ReleaseError } from './release-error.ts';

export interface ReleaseFacts {
  readonly version: string;
  /** As an image names it, such as `linux/amd64`; undefined if the release has no image. */
  readonly imagePlatform: string | undefined;
  /** The releases of Node.js that the command runs on, such as `20.16 or newer`. */
  readonly commandNode: string;
  readonly isSigned: boolean;
}

/**
 * The notes of a release: what the changelog says of it, on which platforms it runs, and how to check its files. A version with
 * a suffix, such as 1.0.0-dev, has the section Unreleased. Throws ReleaseError if the changelog lacks the section.
 */
export function releaseNotes(changelog: string, facts: ReleaseFacts): string {
  const { version, imagePlatform, commandNode } = facts;
  const image = imagePlatform === undefined ? [] : [`- The image: ${imagePlatform}.`];
  const platforms = [
    ...image,
    `- The command: Linux and macOS with Node.js ${commandNode}. The tests run on Linux.`,
    '- The chart: see `docs/support.md` for the versions of Kubernetes, PostgreSQL and Helm.',
  ];
  const check = ['```sh', ...checkCommands(facts), '```'];
  const parts = [`# Keyframe ${version}`, changesOf(changelog, version)];
  parts.push('## Platforms', platforms.join('\n'), '## Check the files', check.join('\n'));
  return `${parts.join('\n\n')}\n`;
}

function checkCommands({ isSigned }: ReleaseFacts): string[] {
  const sums = 'sha256sum --check SHA256SUMS';
  if (!isSigned) return [sums];
  const signature = '-rawin -in SHA256SUMS -sigfile SHA256SUMS.sig';
  return [`openssl pkeyutl -verify -pubin -inkey keyframe-release.pub ${signature}`, sums];
}

function changesOf(changelog: string, version: string): string {
  const title = version.includes('-') ? 'Unreleased' : version;
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.startsWith(`[${title}]`));
  if (section === undefined)
    throw new ReleaseError(`CHANGELOG.md lacks the section \`## [${title}] - DATE\`. Write it first.`);
  const text = section.split('\n').slice(1).join('\n').trim();
  if (text === '') throw new ReleaseError(`The section [${title}] of CHANGELOG.md is empty. Say what changed.`);
  return text.replaceAll(/^### /gm, '## ');
}
