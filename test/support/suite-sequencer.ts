import { createRequire } from 'node:module';
import type sequencer from '@jest/test-sequencer';

// The types of the package describe its CommonJS form, which `import` does not load.
const load = createRequire(import.meta.url) as (name: string) => typeof sequencer;
const Sequencer = load('@jest/test-sequencer').default;

type Tests = Parameters<InstanceType<typeof Sequencer>['sort']>[0];

const suites = ['/test/e2e/', '/test/integration/', '/test/unit/'];

/**
 * Jest's order of test files, with the suites whose files take longest first. The many short files of the unit suite come
 * last, so that no worker waits long for the last file of another.
 */
export default class SuiteSequencer extends Sequencer {
  override sort(tests: Tests): Tests {
    const inJestsOrder = super.sort([...tests]) as Tests;
    return inJestsOrder.toSorted((a, b) => rank(a.path) - rank(b.path));
  }
}

function rank(path: string): number {
  return suites.findIndex((suite) => path.includes(suite));
}
