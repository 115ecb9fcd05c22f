import { basename, join, relative } from 'node:path';
import { type BuildOptions, type Metafile, build, transform } from 'esbuild';
import { checkoutDirectory } from '../checkout.ts';

export interface ProgramOptions extends BuildOptions {
  /** The module of the program, from the top of the repository. */
  readonly entry: string;
  /** The oldest release that runs it. */
  readonly target: string;
}

/**
 * Bundles a program into one CommonJS file of parts. Each part is a text, which becomes code when the program first asks
 * for it.
 *
 * Node.js scans a text several times faster than code, and a run of the command needs few of its parts: to compile all of
 * them takes a fifth of the time of a short command. Also, a Node.js that is too old to parse the code parses the file.
 *
 * Returns the text of the program. Throws what esbuild throws.
 */
export async function bundleInParts({ entry, target, ...options }: ProgramOptions): Promise<string> {
  const { outputFiles, metafile } = await build({
    ...options,
    target,
    bundle: true,
    splitting: true,
    format: 'esm',
    entryPoints: [join(checkoutDirectory, entry)],
    absWorkingDir: checkoutDirectory,
    outdir: checkoutDirectory,
    metafile: true,
    write: false,
  });
  refusePackages(metafile);
  const main = basename(entry).replace(/\.ts$/, '.js');
  const parts = await Promise.all(
    outputFiles.map(async ({ path, text }) => {
      const name = relative(checkoutDirectory, path);
      return `${JSON.stringify(`./${name}`)}:${quoted(`'use strict';${await asCommonJs(text, target)}`)}`;
    }),
  );
  return `const parts={${parts.join(',\n')}},loaded={};
function load(id){
const part=parts[id];
if(part===undefined)return require(id);
if(loaded[id]===undefined){
const module=loaded[id]={exports:{}};
new Function('require','module','exports',part)(load,module,module.exports);
}
return loaded[id].exports;
}
load(${JSON.stringify(`./${main}`)});
`;
}

/** As a literal in single quotes: code has few of them, and Node.js scans a text faster without escapes. */
function quoted(code: string): string {
  const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r' };
  return `'${code.replaceAll(/['\\\n\r]/g, (character) => escapes[character] ?? `\\${character}`)}'`;
}

/** Of a CommonJS package that `import()` names, esbuild exports nothing but the default. */
function refusePackages({ outputs }: Metafile): void {
  for (const { entryPoint } of Object.values(outputs))
    if (entryPoint?.startsWith('node_modules/'))
      throw new Error(`${entryPoint} is loaded by import(): load a module of src that imports it instead`);
}

async function asCommonJs(part: string, target: string): Promise<string> {
  const { code } = await transform(part, {
    format: 'cjs',
    platform: 'node',
    target,
    minify: true,
    // import() becomes require(), which is `load` here.
    supported: { 'dynamic-import': false },
  });
  return code;
}
