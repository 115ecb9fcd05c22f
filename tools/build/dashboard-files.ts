import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { checkoutDirectory } from '../checkout.ts';
import { compress } from './compress.ts';

/**
 * `node tools/build/dashboard-files.ts FOLDER` writes the files of the dashboard into a folder: `index.html`, `assets/` with a
 * hash in each name, and beside each text its compressed forms, which the server sends as they are.
 */

const compressible = /\.(?:html|js|css|svg)$/;

async function main(folder: string): Promise<void> {
  await build({
    root: join(checkoutDirectory, 'src', 'dashboard'),
    configFile: false,
    envDir: false,
    publicDir: false,
    logLevel: 'warn',
    build: {
      outDir: folder,
      emptyOutDir: true,
      sourcemap: false,
      // The content security policy allows no data: URLs and no inline script.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rolldownOptions: {
        output: { codeSplitting: { groups: [{ name: 'packages', test: /node_modules/ }] } },
        // Packages mark modules for React on a server.
        onwarn: (warning, warn) => {
          if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') warn(warning);
        },
      },
    },
  });
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (compressible.test(name)) compress(join(folder, name));
  }
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Name the folder: node tools/build/dashboard-files.ts FOLDER');
await main(folder);
