import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { DockerBuilder } from '../../../tools/devcluster/image/docker-builder.ts';
import { howToUse } from '../../../tools/devcluster/image/how-to-use.ts';
import { Tools } from '../../../tools/devcluster/image/tools.ts';

/** Which base an image has, and what is said of a built image. */

const read = (path: string): string => readFileSync(join(import.meta.dirname, '..', '..', '..', path), 'utf8');
const pinned = /@sha256:(?:[0-9a-f]{64}|…)$/;

test('no base of the Dockerfile can be moved: each argument has no default, another argument, or a digest', () => {
  const dockerfile = read('Dockerfile');
  const defaults = [...dockerfile.matchAll(/^ARG (?:BUILD_)?BASE=(.*)$/gm)].map(([, value = '']) => value);
  const froms = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, name = '']) => name);
  expect(froms.length).toBeGreaterThan(2);
  const named = [...defaults, ...froms].filter((name) => !/^\$\{(?:BUILD_)?BASE\}$/.test(name));
  expect(named.filter((name) => !pinned.test(name))).toEqual([]);
});

test.each(['docs/image.md', 'README.md', 'docs/install.md', 'charts/keyframe/README.md'])(
  '%s names each base of a build with its digest',
  (page) => {
    const bases = [...read(page).matchAll(/(?:--base |BASE=)([^\s`"]+)/g)].map(([, name = '']) => name);
    expect(bases.filter((name) => !pinned.test(name))).toEqual([]);
    expect(bases.length >= (page === 'docs/image.md' ? 4 : 0)).toBe(true);
  },
);

test('Docker gets no base by itself: the message says how to name one by its digest', async () => {
  const builder = new DockerBuilder({ tools: new Tools() });
  const error = await builder.base().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'ImageError' });
  const { message } = error as Error;
  expect(message).toMatch(/npm run image -- --base \S+@sha256:…\n/);
  expect(message).toContain('docker buildx imagetools inspect docker.io/library/node:24-bookworm-slim');
});

test.each([
  ['localhost/keyframe:0.9.0', 'registry.example.com/keyframe', '0.9.0'],
  ['keyframe', 'registry.example.com/keyframe', 'latest'],
  ['registry.example.com:5000/platform/kf:1-rc', 'registry.example.com:5000/platform/kf', '1-rc'],
  ['registry.example.com:5000/platform/kf', 'registry.example.com:5000/platform/kf', 'latest'],
])('an image that was built as %s is pushed and named to the chart', (tag, repository, version) => {
  const text = howToUse({ tag, file: '/tmp/keyframe.tar' });
  expect(text).toContain(`skopeo copy docker-archive:/tmp/keyframe.tar docker://${repository}:${version}\n`);
  expect(text).toContain(`--set image.repository=${repository} --set image.tag=${version} `);
});
