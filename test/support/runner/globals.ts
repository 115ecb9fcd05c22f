import type * as Jest from '@jest/globals';

/**
 * What `import … from '@jest/globals'` loads in tests. The functions belong to one test file, but this module and its
 * importers are loaded once: `import` always reads the present value of a variable.
 */
export let afterAll: typeof Jest.afterAll;
export let afterEach: typeof Jest.afterEach;
export let beforeAll: typeof Jest.beforeAll;
export let beforeEach: typeof Jest.beforeEach;
export let describe: typeof Jest.describe;
export let expect: typeof Jest.expect;
export let it: typeof Jest.it;
export let jest: typeof Jest.jest;
export let test: typeof Jest.test;

/** Sets the functions of the file that is about to run. */
export function provideGlobals(given: typeof Jest): void {
  ({ afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test } = given);
}
