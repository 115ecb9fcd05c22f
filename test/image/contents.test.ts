import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../tools/checkout.ts';
import { imageSite } from '../support/node/image-site.ts';

interface Manifest {
  readonly name: string;
  readonly version: string;
}

interface LockedPackage {
  readonly version?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
}

interface Sbom {
  readonly bomFormat: string;
  readonly metadata: { readonly component: { readonly name: string; readonly version: string } };
  readonly components: readonly { readonly name: string; readonly version: string }[];
}

const { image, config, root, listing } = imageSite();
const app = join(root, 'app');
const checkout = readJson(join(checkoutDirectory, 'package.json')) as Manifest;

describe('The image', () => {
  test('holds less than 40 MB besides its base', () => {
    expect(image.ownBytes).toBeGreaterThan(5e6);
    expect(image.ownBytes).toBeLessThan(40e6);
  });

  test('starts keyframe-server as a user who is not root and is named by number', () => {
    expect(config.User).toBe('65532:65532');
    expect(config.Entrypoint).toEqual(['/app/bin/keyframe-server']);
    expect(config.Cmd).toEqual(['all']);
    expect(Object.keys(config.ExposedPorts ?? {})).toEqual(['8700/tcp', '8701/tcp', '8702/tcp']);
  });

  test('says which release it is and what it was built upon', () => {
    expect(config.Labels).toMatchObject({
      'org.opencontainers.image.title': 'Keyframe',
      'org.opencontainers.image.licenses': 'Apache-2.0',
      'org.opencontainers.image.version': checkout.version,
      'org.opencontainers.image.base.name': image.base,
    });
    expect(readJson(join(app, 'package.json'))).toMatchObject({ name: 'keyframe', version: checkout.version });
  });

  test('adds files in /app alone, all of them root’s and writable by no other user', () => {
    expect(listing.length).toBeGreaterThan(200);
    const strange = listing.filter((line) => {
      const [mode = '', owner, , , , path = ''] = line.split(/\s+/);
      const isWritable = !mode.startsWith('l') && (mode[5] === 'w' || mode[8] === 'w');
      return owner !== '0/0' || isWritable || !/^(?:\.\/)?app(?:\/|$)/.test(path);
    });
    expect(strange).toEqual([]);
  });

  test('holds the programs, the migrations, the licence and the SBOM, and nothing of how they are made', () => {
    expect(readdirSync(app).sort()).toEqual([
      'LICENSE',
      'bin',
      'dist',
      'node_modules',
      'package.json',
      'prisma',
      'sbom.cdx.json',
    ]);
    const migrations = join('prisma', 'migrations');
    expect(readdirSync(join(app, migrations))).toEqual(readdirSync(join(checkoutDirectory, migrations)));
    const files = filesBelow(app);
    expect(files.filter((path) => /\.map$|\.[cm]?ts$|\.test\.|\.env/.test(path))).toEqual([]);
    // Secrets of the user who builds, and the caches of tools.
    expect(files.filter((path) => /^\.(?:npmrc|git|npm|package-lock\.json)$/.test(basename(path)))).toEqual([]);
    expect(readdirSync(join(root, 'root')).filter((name) => /npm|cache/.test(name))).toEqual([]);
    expect(readdirSync(join(root, 'tmp'))).toEqual([]);
  });

  test.each([
    ['dashboard', 'index.html'],
    ['documentation', 'alerts.md.html'],
  ])('holds the files of the %s, each text in its compressed forms too', (name, page) => {
    const folder = join(app, 'dist', name);
    const texts = filesBelow(folder).filter((path) => /\.(?:html|js|css|svg)$/.test(path));
    expect(texts.map((path) => basename(path))).toContain(page);
    for (const path of texts) {
      const content = readFileSync(path);
      expect(brotliDecompressSync(readFileSync(`${path}.br`)).equals(content)).toBe(true);
      expect(gunzipSync(readFileSync(`${path}.gz`)).equals(content)).toBe(true);
    }
  });

  test('holds no machine code of its own, so no database engine either', () => {
    const programs = filesBelow(app).filter((path) => {
      const start = readFileSync(path).subarray(0, 4);
      return start.equals(Buffer.from('\x7fELF', 'latin1')) || path.endsWith('.node');
    });
    expect(programs).toEqual([]);
  });

  test('holds packages for production alone, as package-lock.json names them', () => {
    const { packages } = readJson(join(checkoutDirectory, 'package-lock.json')) as {
      packages: Record<string, LockedPackage>;
    };
    const installed = packagesIn(app);
    const wanted = Object.entries(packages).filter(
      ([path, { dev, devOptional, optional }]) => path !== '' && !dev && !devOptional && !optional,
    );
    expect(installed.map(({ path, version }) => `${path} ${version}`).sort()).toEqual(
      wanted.map(([path, { version }]) => `${path} ${version}`).sort(),
    );
  });

  test('holds of the packages no program, for theirs are in the bundles, but their licences', () => {
    const files = filesBelow(join(app, 'node_modules'));
    expect(files.filter((path) => /\.[cm]?js$/.test(path)).map((path) => basename(path))).toEqual([
      'swagger-ui-bundle.js',
    ]);
    const words = /licen[cs]e|copying|readme/i;
    const bare = packagesIn(app).filter(({ path }) => !readdirSync(join(app, path)).some((name) => words.test(name)));
    expect(bare).toEqual([]);
  });

  test('has an SBOM that lists just the packages that are inside', () => {
    const sbom = readJson(join(app, 'sbom.cdx.json')) as Sbom;
    expect(sbom.bomFormat).toBe('CycloneDX');
    expect(sbom.metadata.component).toMatchObject({ name: 'keyframe', version: checkout.version });
    const inside = new Set(packagesIn(app).map(({ name, version }) => `${name}@${version}`));
    expect(sbom.components.map(({ name, version }) => `${name}@${version}`).sort()).toEqual([...inside].sort());
  });
});

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

interface InstalledPackage {
  /** From the folder of package.json, as package-lock.json has it. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
}

function packagesIn(folder: string, path = 'node_modules'): InstalledPackage[] {
  const names = readdirSync(join(folder, path)).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(folder, path, name)).map((inner) => `${name}/${inner}`) : [name],
  );
  return names.flatMap((directory) => {
    const own = `${path}/${directory}`;
    const { name, version } = readJson(join(folder, own, 'package.json')) as Manifest;
    const isNested = readdirSync(join(folder, own)).includes('node_modules');
    return [{ path: own, name, version }, ...(isNested ? packagesIn(folder, `${own}/node_modules`) : [])];
  });
}
