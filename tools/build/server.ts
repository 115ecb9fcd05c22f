import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { buildIfStale, dist } from './if-stale.ts';
import { checkoutDirectory } from '../checkout.ts';

/** The program `keyframe-server`, once it is built. */
export const serverProgram = join(dist, 'server', 'main.js');

// The CommonJS packages in the bundle load Node's own modules by `require`, which an ES module has not.
const requireForPackages =
  "import { createRequire as bundleRequire } from 'node:module';const require = bundleRequire(import.meta.url);";

/** How the server is bundled with its packages. */
export const serverBundle = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  // Node 24 has `using`. What esbuild makes of one in a loop throws the first error again in each round.
  supported: { using: true },
  format: 'esm',
  banner: { js: requireForPackages },
  // The page at /docs/api is made of this package's files, and pg falls back if this one is not there.
  external: ['swagger-ui-dist', 'pg-native'],
  // As in the bundle of the command (cli.ts).
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  legalComments: 'none',
  logLevel: 'silent',
} satisfies BuildOptions;

let built: Promise<string> | undefined;

/**
 * Builds keyframe-server if its sources have changed since the last build; once, even if several processes ask at the
 * same time. Returns the program. Throws esbuild's errors if a source cannot be parsed or an import resolved; types are
 * checked by `npm run typecheck`.
 */
export function buildServer(): Promise<string> {
  // Tests start many servers in one process: the sources are looked through for the first of them.
  built ??= buildIfStale({
    name: 'server',
    sources: ['tsconfig.json', 'package-lock.json', 'src', 'tools/build/server.ts'],
    program: serverProgram,
    build: bundleServer,
  });
  return built;
}

/**
 * Bundles the server with its packages: a process that reads a few files instead of some thousand starts in half the CPU
 * time. What a role imports when it needs it stays in files of its own, so the API never loads the Kubernetes client.
 */
async function bundleServer(): Promise<void> {
  const folder = dirname(serverProgram);
  const { outputFiles } = await build({
    ...serverBundle,
    entryPoints: [join(checkoutDirectory, 'src', 'main.ts')],
    outdir: folder,
    splitting: true,
    sourcemap: true,
    write: false,
  });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // The program last: if it is there, all is.
  const isProgram = ({ path }: { path: string }): boolean => basename(path) === basename(serverProgram);
  for (const file of outputFiles.toSorted((one, other) => Number(isProgram(one)) - Number(isProgram(other)))) {
    writeFileSync(file.path, file.contents);
  }
  chmodSync(serverProgram, 0o755);
}
