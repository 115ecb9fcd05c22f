import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onProcessEnd } from '../../../tools/devcluster/cluster/process-end.ts';
import { type BuiltImage, makeImage } from '../../../tools/devcluster/image/make-image.ts';
import { makeRelease } from '../../../tools/release/make-release.ts';

const variable = 'KEYFRAME_TEST_IMAGE';

/** The base of images for tests. Docker requires one; buildah makes its own. */
export const testBase = process.env['KEYFRAME_TEST_IMAGE_BASE'];

/**
 * The image of this checkout, built once in a jest run, whichever suites of it want the image. Its file is the run's
 * own: another checkout may build in the meantime.
 */
export async function builtImage(): Promise<BuiltImage> {
  const known = knownImage();
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(tmpdir(), 'keyframe-image-file-'));
  // Also when the run is interrupted: it is a quarter of a gigabyte.
  onProcessEnd(() => rmSync(folder, { recursive: true, force: true }));
  const image = await makeImage({ base: testBase, installTools: true, output: join(folder, 'keyframe.tar') });
  process.env[variable] = JSON.stringify(image);
  return image;
}

/** A release of this checkout in a folder that holds nothing else. */
export interface BuiltRelease {
  readonly folder: string;
  readonly image: BuiltImage;
}

/** The release of this checkout with its image, made once in a jest run. */
export async function builtRelease(): Promise<BuiltRelease> {
  const folder = mkdtempSync(join(tmpdir(), 'keyframe-release-files-'));
  onProcessEnd(() => rmSync(folder, { recursive: true, force: true }));
  const { image } = await makeRelease({ folder, base: testBase, withImage: true, installTools: true });
  if (image === undefined) throw new Error('the release has no image');
  process.env[variable] = JSON.stringify(image);
  return { folder, image };
}

/** Removes the file; does nothing where there is none. */
export function removeBuiltImage(): void {
  const image = knownImage();
  if (image !== undefined) rmSync(dirname(image.file), { recursive: true, force: true });
  delete process.env[variable];
}

function knownImage(): BuiltImage | undefined {
  const text = process.env[variable];
  return text === undefined ? undefined : (JSON.parse(text) as BuiltImage);
}
