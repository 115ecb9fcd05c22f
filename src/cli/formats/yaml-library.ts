import * as yaml from 'yaml';

/**
 * The package, in a module that commands load with `import()` when they read or write YAML. If a bundled program
 * loads a CommonJS package itself in this way, it gets only the default export.
 */
export { yaml };
