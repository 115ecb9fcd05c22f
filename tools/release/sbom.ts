import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkoutDirectory } from '../checkout.ts';
import { stableSbom } from '../devcluster/image/stable-sbom.ts';
import type { Tools } from '../devcluster/image/tools.ts';

interface LockedPackage {
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
}

type Manifest = Record<string, unknown>;

/**
 * The packages that the programs need, as CycloneDX with a time in seconds since 1970. `npm sbom --omit=dev` leaves out packages
 * that a package of the development needs too, so npm is shown a lock file that has only the others.
 */
export async function productionSbom(tools: Tools, time: number): Promise<string> {
  const read = (name: string): Manifest => JSON.parse(readFileSync(join(checkoutDirectory, name), 'utf8')) as Manifest;
  const lock = read('package-lock.json') as { packages: Record<string, LockedPackage & Manifest> };
  const needed = Object.entries(lock.packages).filter(([, { dev, optional, devOptional }]) => {
    return !(dev ?? optional ?? devOptional ?? false);
  });
  const packages = Object.fromEntries(needed.map(([path, one]) => [path, path === '' ? forProduction(one) : one]));
  const folder = mkdtempSync(join(tmpdir(), 'keyframe-sbom-'));
  try {
    writeFileSync(join(folder, 'package.json'), JSON.stringify(forProduction(read('package.json'))));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ ...lock, packages }));
    const args = ['--prefix', folder, '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
    const output = await tools.run('npm', ['sbom', ...args]);
    // Npm's warnings come first.
    return stableSbom(output.slice(output.indexOf('{')), time);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const notForProduction: ReadonlySet<string> = new Set(['devDependencies', 'optionalDependencies', 'scripts', 'bin']);

function forProduction(manifest: Manifest): Manifest {
  return Object.fromEntries(Object.entries(manifest).filter(([name]) => !notForProduction.has(name)));
}
