import type { Config } from 'jest';

const common = {
  testRunner: '<rootDir>/test/support/runner/run-file.ts',
  testEnvironment: '<rootDir>/test/support/runner/environment.ts',
  // Node loads the files, and they import what they use.
  transform: {},
  injectGlobals: false,
} satisfies Config;

const isIsolated = process.env['KEYFRAME_TEST_ISOLATED'] === '1';

const config: Config = {
  // One setting for all projects: Jest knows none for each. It ends what hangs; a slow machine must not reach it.
  testTimeout: 300_000,
  // A worker that ran hundreds of files needs more than the default half second to free its memory. Jest still reports a
  // worker that a leaked handle keeps alive.
  workerGracefulExitTimeout: 20_000,
  testSequencer: '<rootDir>/test/support/runner/suite-sequencer.ts',
  // A worker ends after each file: no file has modules that another one loaded.
  ...(isIsolated ? { workerIdleMemoryLimit: 0 } : {}),
  projects: [
    { ...common, displayName: 'unit', testMatch: ['<rootDir>/test/unit/**/*.test.ts'] },
    {
      ...common,
      displayName: 'integration',
      testMatch: ['<rootDir>/test/integration/**/*.test.ts'],
      globalSetup: '<rootDir>/test/support/database/global-postgres.ts',
      globalTeardown: '<rootDir>/test/support/database/global-postgres-teardown.ts',
    },
    {
      ...common,
      displayName: 'browser',
      testMatch: ['<rootDir>/test/browser/**/*.test.ts'],
      globalSetup: '<rootDir>/test/support/browser/global-browser.ts',
      globalTeardown: '<rootDir>/test/support/browser/global-browser-teardown.ts',
    },
    {
      ...common,
      displayName: 'e2e',
      testMatch: ['<rootDir>/test/e2e/**/*.test.ts'],
      globalSetup: '<rootDir>/test/support/cluster/global-e2e.ts',
      globalTeardown: '<rootDir>/test/support/cluster/global-e2e-teardown.ts',
    },
    // Starts a cluster of its own.
    { ...common, displayName: 'kind', testMatch: ['<rootDir>/test/kind/**/*.test.ts'] },
    {
      ...common,
      displayName: 'image',
      testMatch: ['<rootDir>/test/image/**/*.test.ts'],
      globalSetup: '<rootDir>/test/support/node/global-image.ts',
      globalTeardown: '<rootDir>/test/support/node/global-image-teardown.ts',
    },
    {
      ...common,
      displayName: 'node',
      testMatch: ['<rootDir>/test/node/**/*.test.ts'],
      globalSetup: '<rootDir>/test/support/node/global-node.ts',
      globalTeardown: '<rootDir>/test/support/node/global-node-teardown.ts',
    },
  ],
};
export default config;
