import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { buildIfStale, dist } from './if-stale.ts';
import { bundleInParts } from './program-parts.ts';
import { checkoutDirectory } from '../checkout.ts';

const program = join(dist, 'keyframe.cjs');

// People put the command under a name without an extension into any folder. Below a package.json with "type": "module",
// Node.js takes it for an ES module, which has no `require`.
const anyModuleSystem =
  "var require=typeof require==='function'?require:process.getBuiltinModule('node:module').createRequire(process.execPath);";

// The first releases of 20 and 22 that have `process.getBuiltinModule`, which the command uses. No release of 21 has it.
const refusal = `'error: keyframe needs Node.js 20.16 or newer (of Node.js 22: 22.3 or newer); this is '+process.version+'\\n'`;
// This line runs in any older release too.
const requireVersion = `if(!process.getBuiltinModule){process.stderr.write(${refusal});process.exit(1)}`;

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
    'tools/build/program-parts.ts',
  ];
  return buildIfStale({ name: 'cli', sources, program, build: bundleCli });
}

/** Bundles the command into one file that can be run. */
async function bundleCli(): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(checkoutDirectory, 'package.json'), 'utf8')) as { version: string };
  const parts = await bundleInParts({
    entry: 'src/cli/main.ts',
    platform: 'node',
    target: 'node20',
    minify: true,
    legalComments: 'none',
    logLevel: 'silent',
    // Its CommonJS form loads its parts in a way that cannot be bundled.
    alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
    define: { KEYFRAME_VERSION: JSON.stringify(version) },
    // commander can run programs as subcommands, for which it loads this.
    plugins: [without('commander', 'node:child_process')],
  });
  const fresh = `${program}.${process.pid}`;
  writeFileSync(fresh, `#!/usr/bin/env node\n'use strict';${requireVersion}${anyModuleSystem}\n${parts}`);
  chmodSync(fresh, 0o755);
  renameSync(fresh, program);
}

/** Leaves out a module that a package would load and that is never used here. */
function without(importer: string, module: string): Plugin {
  return {
    name: `${importer}-without-${module}`,
    setup(build) {
      build.onResolve({ filter: new RegExp(`^${module}$`) }, (site) =>
        site.importer.includes(`/node_modules/${importer}/`) ? { path: module, namespace: 'left-out' } : undefined,
      );
      build.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({ contents: 'module.exports = {}' }));
    },
  };
}
