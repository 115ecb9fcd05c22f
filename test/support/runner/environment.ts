import type { JestEnvironment, JestEnvironmentConfig } from '@jest/environment';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';
import { ProcessState } from './process-state.ts';

const getBuiltinModule = Object.getOwnPropertyDescriptor(process, 'getBuiltinModule') ?? {};

/** The `testEnvironment` of jest.config.ts: the realm of the process, as it was before the file. */
export default class SharedEnvironment implements Partial<JestEnvironment> {
  readonly global = globalThis as unknown as JestEnvironment['global'];
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly fakeTimers = null;
  readonly fakeTimersModern: ModernFakeTimers;
  readonly #before = new ProcessState();

  constructor({ projectConfig }: JestEnvironmentConfig) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  /** Jest requires the method, but calls it only to load modules itself. */
  getVmContext(): null {
    return null;
  }

  async setup(): Promise<void> {
    // Jest replaced `getBuiltinModule` by one that ends with this file, but modules that stay loaded call it later.
    Object.defineProperty(process, 'getBuiltinModule', getBuiltinModule);
  }

  async teardown(): Promise<void> {
    this.fakeTimersModern.dispose();
    this.#before.restore();
  }
}
