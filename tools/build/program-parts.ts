import { basename, join, relative } from 'node:path';
import { type BuildOptions, type Metafile, build, transform } from 'esbuild';
import { checkoutDirectory } from '../checkout.ts';

/**
 * Bundles a program into one CommonJS file of parts. Parts that `entry` imports are functions; what it loads with
 * `import()` is a text, which becomes code when the program first asks for it.
 *
 * Node.js scans a text several times faster than code, and a run of the command needs few of its parts: to compile all of
 * them takes a fifth of the time of a short command.
 *
 * Returns the text of the program. Throws what esbuild throws.
 */
export async function bundleInParts({ entry, ...options }: BuildOptions & { readonly entry: string }): Promise<string> {
  const { outputFiles, metafile } = await build({
    ...options,
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
  const eager = importedBy(main, metafile);
  const parts = await Promise.all(
    outputFiles.map(async ({ path, text }) => {
      const name = relative(checkoutDirectory, path);
      const code = await asCommonJs(text);
      // V8 compiles a function in parentheses at once instead of reading it twice.
      const part = eager.has(name) ? `(function(require,module,exports){${code}})` : JSON.stringify(code);
      return `${JSON.stringify(`./${name}`)}:${part}`;
    }),
  );
  return `const parts={${parts.join(',\n')}},loaded={};
function load(id){
const part=parts[id];
if(part===undefined)return require(id);
if(loaded[id]===undefined){
const module=loaded[id]={exports:{}};
const run=typeof part==='string'?new Function('require','module','exports',part):part;
run(load,module,module.exports);
}
return loaded[id].exports;
}
load(${JSON.stringify(`./${main}`)});
`;
}

/** Of a CommonJS package that `import()` names, esbuild exports nothing but the default. */
function refusePackages({ outputs }: Metafile): void {
  for (const { entryPoint } of Object.values(outputs))
    if (entryPoint?.startsWith('node_modules/'))
      throw new Error(`${entryPoint} is loaded by import(): load a module of src that imports it instead`);
}

/** The names of a part and of all that it imports, directly or through others. */
function importedBy(main: string, { outputs }: Metafile): ReadonlySet<string> {
  const found = new Set<string>();
  const add = (name: string): void => {
    if (found.has(name)) return;
    found.add(name);
    for (const { path, kind } of outputs[name]?.imports ?? []) if (kind === 'import-statement') add(path);
  };
  add(main);
  return found;
}

async function asCommonJs(part: string): Promise<string> {
  const { code } = await transform(part, {
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    minify: true,
    // import() becomes require(), which is `load` here.
    supported: { 'dynamic-import': false },
  });
  return code;
}
