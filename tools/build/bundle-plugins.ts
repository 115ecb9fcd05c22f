import { type BuildOptions, type Plugin, build as bundle } from 'esbuild';

/** How the command and all its parts are bundled. */
export const bundleOptions = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  // Node starts it some 8 ms sooner than the same as an ES module.
  format: 'cjs',
  minify: true,
  legalComments: 'none',
  logLevel: 'silent',
} satisfies BuildOptions;

/**
 * Puts a package into the bundle as a text, which becomes a program when it is first asked for: Node reads over a text many
 * times faster than over a program. Worth it for a large one that few commands need.
 */
export function asText(name: string, resolveDir: string): Plugin {
  return {
    name: `${name}-as-text`,
    setup(build) {
      build.onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: name, namespace: 'as-text' }));
      build.onLoad({ filter: /.*/, namespace: 'as-text' }, async () => {
        const entry = { contents: `module.exports = require('${name}')`, resolveDir };
        const { outputFiles } = await bundle({ ...bundleOptions, stdin: entry, write: false });
        const text = JSON.stringify(outputFiles[0]?.text ?? '');
        return { contents: `new Function('module', 'require', ${text})(module, require)` };
      });
    },
  };
}

/** Leaves out a module that a package would load and that is never used here. */
export function without(importer: string, module: string): Plugin {
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
