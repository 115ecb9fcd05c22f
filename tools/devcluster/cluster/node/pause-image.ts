import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The image of the container that holds a pod's namespaces. */
export const pauseImageTag = 'localhost/pause:1';

/** Writes an image that holds this one program, in a folder, as `docker save` would; answers the file. */
export function makePauseImage(program: string, folder: string): string {
  const work = join(folder, 'pause');
  mkdirSync(work);
  copyFileSync(program, join(work, 'pause'));
  chmodSync(join(work, 'pause'), 0o755);
  const tar = (...args: string[]): void => void execFileSync('tar', ['-C', work, '-cf', ...args]);
  tar(join(work, 'layer.tar'), '--owner=0', '--group=0', 'pause');
  const digest = createHash('sha256')
    .update(readFileSync(join(work, 'layer.tar')))
    .digest('hex');
  const config = {
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: { Entrypoint: ['/pause'], User: '65535:65535' },
    rootfs: { type: 'layers', diff_ids: [`sha256:${digest}`] },
  };
  const manifest = [{ Config: 'config.json', RepoTags: [pauseImageTag], Layers: ['layer.tar'] }];
  writeFileSync(join(work, 'config.json'), JSON.stringify(config));
  writeFileSync(join(work, 'manifest.json'), JSON.stringify(manifest));
  const file = join(work, 'image.tar');
  tar(file, 'manifest.json', 'config.json', 'layer.tar');
  return file;
}
