import { chmodSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { asText, bundleOptions, without } from './bundle-plugins.ts';
import { buildIfStale, dist } from './if-stale.ts';
import { checkoutDirectory } from '../checkout.ts';

const program = join(dist, 'keyframe.cjs');

// People put the command under a name without an extension into any folder. Below a package.json with "type": "module",
// Node.js takes it for an ES module, which has no `require`.
const anyModuleSystem =
  "var require=typeof require==='function'?require:process.getBuiltinModule('node:module').createRequire(process.execPath);";

/**
 * Builds the `keyframe` command if its sources have changed since the last build; once, even if several processes ask at
 * the same time. Answers the program.
 */
export function buildCli(): Promise<string> {
  const sources = [
    'package.json',
    'package-lock.json',
    'src/cli',
    'src/client',
    'src/wire',
    'src/domain',
    'src/lib',
    'tools/build/cli.ts',
    'tools/build/bundle-plugins.ts',
  ];
  return buildIfStale({ name: 'cli', sources, program, build: bundleCli });
}

/** Bundles the command into one file that can be run, made to start soon. */
async function bundleCli(): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(checkoutDirectory, 'package.json'), 'utf8')) as { version: string };
  const fresh = `${program}.${process.pid}`;
  await build({
    ...bundleOptions,
    entryPoints: [join(checkoutDirectory, 'src', 'cli', 'main.ts')],
    outfile: fresh,
    banner: { js: `#!/usr/bin/env node\n'use strict';${anyModuleSystem}` },
    define: { KEYFRAME_VERSION: JSON.stringify(version) },
    plugins: [
      asText('yaml', checkoutDirectory),
      // commander can run programs as subcommands, for which it loads this.
      without('commander', 'node:child_process'),
    ],
  });
  chmodSync(fresh, 0o755);
  renameSync(fresh, program);
}
