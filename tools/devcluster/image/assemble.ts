import {
  chmodSync,
  cpSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkoutDirectory } from '../../checkout.ts';
import { copyPackages } from './packages.ts';
import { stableSbom } from './stable-sbom.ts';

/**
 * Lays out what the image holds besides its base, as two folders that become /app there: `modules`, what stays of the
 * packages, and `programs`, all else. The Dockerfile runs it after the build. The same input gives the same bytes and times.
 */

/** The folder of the programs in the image. */
const home = '/app';
// dist/.cli-built-from and the like.
const isStamp = (name: string): boolean => name.startsWith('.');

interface Options {
  /** A folder with package.json, node_modules and sbom.json, for production. */
  readonly dependencies: string;
  readonly output: string;
  /** Where Node.js will be. */
  readonly node: string;
  /** Seconds since 1970. */
  readonly time: number;
}

function assemble({ dependencies, output, node, time }: Options): void {
  const modules = join(output, 'modules');
  const programs = join(output, 'programs');
  rmSync(output, { recursive: true, force: true });
  mkdirSync(programs, { recursive: true });
  copyPackages(join(dependencies, 'node_modules'), join(modules, 'node_modules'));
  cpSync(join(checkoutDirectory, 'dist'), join(programs, 'dist'), {
    recursive: true,
    filter: (path) => !path.endsWith('.map') && !isStamp(path.split('/').at(-1) ?? ''),
  });
  cpSync(join(checkoutDirectory, 'prisma', 'migrations'), join(programs, 'prisma', 'migrations'), { recursive: true });
  cpSync(join(checkoutDirectory, 'LICENSE'), join(programs, 'LICENSE'));
  writeManifest(programs);
  const sbom = readFileSync(join(dependencies, 'sbom.json'), 'utf8');
  writeFileSync(join(programs, 'sbom.cdx.json'), stableSbom(sbom, time));
  linkPrograms(programs, node);
  for (const folder of [modules, programs]) settle(folder, time);
}

/** The manifest says that the programs are ES modules, and which release they are. */
function writeManifest(programs: string): void {
  const manifest = JSON.parse(readFileSync(join(checkoutDirectory, 'package.json'), 'utf8')) as Record<string, unknown>;
  const kept = ['name', 'version', 'description', 'license', 'private', 'type', 'dependencies'];
  const entries = kept.map((name) => [name, manifest[name]] as const);
  writeFileSync(join(programs, 'package.json'), `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`);
}

/** A base without a shell has no /usr/bin/env either, so the programs name their interpreter. */
function linkPrograms(programs: string, node: string): void {
  mkdirSync(join(programs, 'bin'));
  symlinkSync(node, join(programs, 'bin', 'node'));
  for (const [name, file] of [
    ['keyframe-server', 'server/main.js'],
    ['keyframe', 'keyframe.cjs'],
  ] as const) {
    const path = join(programs, 'dist', file);
    const source = readFileSync(path, 'utf8');
    if (!source.startsWith('#!')) throw new Error(`${path} does not begin with #!`);
    writeFileSync(path, source.replace(/^#!.*/, `#!${home}/bin/node`));
    chmodSync(path, 0o755);
    symlinkSync(`../dist/${file}`, join(programs, 'bin', name));
  }
}

/** Gives everything the same time, and rights that do not depend on the builder's umask. */
function settle(folder: string, time: number): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) settle(path, time);
    else if (entry.isFile()) chmodSync(path, path.includes('/programs/dist/') && isProgram(entry.name) ? 0o755 : 0o644);
    lutimesSync(path, time, time);
  }
  chmodSync(folder, 0o755);
  lutimesSync(folder, time, time);
}

function isProgram(name: string): boolean {
  return name === 'main.js' || name === 'keyframe.cjs';
}

function readOptions(): Options {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ options: { dependencies: text, output: text, node: text, time: text } });
  const { dependencies, output, node, time } = values;
  if (dependencies === undefined || output === undefined || node === undefined || !/^\d+$/.test(time ?? '')) {
    throw new Error('Give --dependencies, --output, --node and --time, in whole seconds since 1970.');
  }
  return { dependencies, output, node, time: Number(time) };
}

assemble(readOptions());
