import { readFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { compileFunction } from 'node:vm';
import type { JestEnvironment, JestEnvironmentConfig } from '@jest/environment';
import type * as Globals from '@jest/globals';
import { circusSymbols } from './circus-symbols.ts';
import { provideGlobals } from './globals.ts';
import { shuffleSeed } from './shuffle-seed.ts';

/** Jest's module loader of one file, with the methods that this runner replaces or calls. */
interface Runtime {
  requireInternalModule(path: string): unknown;
  requireModuleOrMock(from: string, name: '@jest/globals'): typeof Globals;
  unstable_importModule(path: string): Promise<unknown>;
  unstable_shouldLoadAsEsm(path: string): boolean;
}

type TestRunner = (
  ...args: readonly [
    globalConfig: JestEnvironmentConfig['globalConfig'],
    config: JestEnvironmentConfig['projectConfig'],
    environment: JestEnvironment,
    runtime: Runtime,
    path: string,
    report?: (event: string, args: unknown) => void,
  ]
) => Promise<Results>;

interface Results {
  readonly failureMessage?: string | null | undefined;
}

const require = createRequire(import.meta.url);
const { default: runWithCircus } = require('jest-circus/runner') as { readonly default: TestRunner };

// Test files and modules of test/support import one module, which has the functions of the present file.
const globals = new URL('globals.ts', import.meta.url).href;
registerHooks({ resolve: (name, context, next) => next(name === '@jest/globals' ? globals : name, context) });

/**
 * The `testRunner` of jest.config.ts. Circus, Jest's default, still runs each file; but Node loads the file and strips its types,
 * in the realm of the process. A process thus loads a module of src, of test/support or of a package once, not once for each
 * file. environment.ts puts back what a file changes in the process.
 */
const runFile: TestRunner = (...[globalConfig, config, environment, runtime, ...rest]) => {
  const order = shuffleSeed === undefined ? {} : { randomize: true, seed: shuffleSeed };
  const run = runWithCircus({ ...globalConfig, ...order }, config, environment, withNodesLoader(runtime), ...rest);
  // Jest shortens the paths of stack traces, but Node's loader names modules by URLs.
  const shorten = (text: string): string => text.replaceAll(`file:${config.rootDir}/`, '');
  // `await` would add a line to each stack trace.
  return run.then((results) => ({
    ...results,
    failureMessage: results.failureMessage && shorten(results.failureMessage),
  }));
};
export default runFile;

function withNodesLoader(runtime: Runtime): Runtime {
  const replacements = {
    requireInternalModule: runAgain,
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (path) => {
      provideGlobals(withoutModuleMocks(runtime.requireModuleOrMock(path, '@jest/globals')));
      return import(pathToFileURL(path).href).catch(rethrow);
    },
  } satisfies Partial<Runtime>;
  for (const name of [...Object.keys(replacements), 'requireModuleOrMock']) expectMethod(runtime, name);
  return Object.assign(runtime, replacements);
}

/** Without the lines of this file, for which Jest would show its source instead of the test. */
function rethrow(error: unknown): never {
  if (error instanceof Error) {
    const lines = error.stack?.split('\n') ?? [];
    error.stack = lines.filter((line) => !line.includes(import.meta.filename)).join('\n');
  }
  throw error;
}

/** Without this, a new Jest would load the file in a virtual machine again, or fail far from the cause. */
function expectMethod(runtime: object, name: string): void {
  if (name in runtime) return;
  throw new Error(`jest-runtime has no method ${name} any more; ${import.meta.filename} must be changed for this Jest`);
}

type Module = (module: { exports: unknown }, exports: unknown, require: NodeJS.Require) => void;
const compiled = new Map<string, Module>();

/** Runs a module of circus once more: its variables hold the tests of one file. The packages that it requires stay. */
function runAgain(path: string): unknown {
  const run = compiled.get(path) ?? compile(path);
  compiled.set(path, run);
  for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
    if (circusSymbols.has(symbol.description)) Reflect.deleteProperty(globalThis, symbol);
  }
  const module = { exports: {} };
  run(module, module.exports, createRequire(path));
  return module.exports;
}

function compile(path: string): Module {
  return compileFunction(readFileSync(path, 'utf8'), ['module', 'exports', 'require'], { filename: path }) as Module;
}

const moduleMocks = [
  'doMock',
  'isolateModules',
  'isolateModulesAsync',
  'mock',
  'resetModules',
  'setMock',
  'unstable_mockModule',
];

/** Node's loader knows nothing of Jest's mocks of modules, which would have no effect. */
function withoutModuleMocks(given: typeof Globals): typeof Globals {
  const refusals = moduleMocks.map((name) => {
    const refuse = (): never => {
      throw new Error(
        `jest.${name} has no effect: files share their modules. Pass a fake to the code under test instead.`,
      );
    };
    return [name, refuse];
  });
  return { ...given, jest: { ...given.jest, ...Object.fromEntries(refusals) } };
}
