import { describe, expect, test } from '@jest/globals';
import { changingVariables } from './module-state.ts';
import { readSources } from './source-rules.ts';

/** The state that modules may keep, each with the reason why it does not reach from one test file to the next. */
const allowed: Readonly<Record<string, string>> = {
  'src/cli/commands/secret/loader-variables.ts: compiled': 'made once of a constant table',
  'src/cli/main.ts: isErrorOutputOpen': 'the entry of a process, which no test imports',
  'src/cli/main.ts: isJson': 'the entry of a process, which no test imports',
  'src/cli/main.ts: isOutputOpen': 'the entry of a process, which no test imports',
  'src/cli/core/program.ts: loaders': 'has an entry for each command object',
  'src/client/lookup.ts: pending': 'is 0 again when each lookup has ended',
  'src/dashboard/api/activity.ts: lastInput': 'needs a browser, where each page loads its modules',
  'src/dashboard/api/link-secret.ts: listeners': 'a component that unmounts leaves it',
  'src/dashboard/api/link-secret.ts: secret': 'the secret of the link that opened the page',
  'src/dashboard/parts/use-now.ts: listeners': 'a component that unmounts leaves it',
  'src/dashboard/parts/use-now.ts: now': 'the time of the clock',
  'src/dashboard/state/drafts.ts: drafts': 'must survive the page that shows them; tests use one environment each',
  'src/dashboard/state/drafts.ts: listeners': 'a component that unmounts leaves it',
  'src/domain/grants.ts: knownTexts': 'has an entry for each list of rules',
  'src/http/request-context.ts: contexts': 'has an entry for each request object',
  'src/http/request/body-inbox.ts: inboxes': 'has an entry for each request object',
  'src/http/request/body-inbox.ts: skipping': 'has an entry for each connection object',
  'src/http/request/json-scan.ts: stringPart': 'an expression whose place is set before each use',
  'src/http/response/entity-tag.ts: listMember': 'an expression whose place is set before each use',
  'src/lib/public-address.ts: globalUnicast': 'filled once of constants',
  'src/lib/public-address.ts: reserved': 'filled once of constants',
  'src/lib/public-address.ts: translated': 'filled once of constants',
  'src/lib/time-slice.ts: waiting': 'is empty again when each turn has ended',
  'src/store/secret-reads.ts: statements': 'made once of constants',
  'src/store/models.ts: clients': 'has an entry for each pool object',
  'src/store/pool-shares.ts: limiters': 'has an entry for each pool object',
  'src/store/pool-shares.ts: owners': 'knows the owner of a call only during the call',
  'src/store/sql.ts: prepared': 'has an entry for each template object',
  'src/store/sql.ts: variantsOf': 'has an entry for each template object',
};

const sources = new Map(readSources().map(({ path, source }) => [path, source]));

test('modules keep no state besides the listed variables', () => {
  expect(sources.size).toBeGreaterThan(400);
  expect(changingVariables(sources)).toEqual(Object.keys(allowed).toSorted());
});

describe('a planted state is found:', () => {
  test.each([
    ['a variable that is assigned', 'let count = 0;', 'count'],
    ['an exported variable', 'export let count = 0;', 'count'],
    ['a variable of the old kind', 'var count = 0;', 'count'],
    [
      'a map',
      'const known = new Map<string, string>();\nexport function keep(): void { known.set("a", "b"); }',
      'known',
    ],
    ['a set', 'const known = new Set<string>();\nexport const keep = (): unknown => known.add("a");', 'known'],
    ['an array', 'const all: string[] = [];\nexport function keep(): void { all.push("a"); }', 'all'],
    ['an element of an array', 'const all = [0] as number[];\nexport function keep(): void { all[0] = 1; }', 'all'],
    [
      'a property of an object',
      'const state = { on: false };\nexport function keep(): void { state.on = true; }',
      'state',
    ],
    ['a property within', 'const state = { a: { n: 0 } };\nexport function keep(): void { state.a.n += 1; }', 'state'],
    ['a counter', 'const state = { n: 0 };\nexport const keep = (): number => state.n++;', 'state'],
    ['a removed property', 'const state: any = {};\nexport function keep(): void { delete state["a"]; }', 'state'],
    [
      'an assigned object',
      'const state = {};\nexport const keep = (): unknown => Object.assign(state, { a: 1 });',
      'state',
    ],
    ['an optional call', 'const known = make();\nexport function keep(): void { known?.delete("a"); }', 'known'],
    ['an object of a class', 'const cache = new LRUCache({ max: 3 });', 'cache'],
    ['a static field', 'export class Pool { static size = 0; }', 'Pool.size'],
    ['a private static field', 'class Pool { static #size = 0; }', 'Pool.size'],
  ])('%s', (_case, source, name) => {
    expect(changingVariables(new Map([['src/a.ts', source]]))).toEqual([`src/a.ts: ${name}`]);
  });

  test('a variable that another module writes', () => {
    const files = {
      'src/lib/a.ts': 'export const known = new Map();',
      'src/b.ts': `import { known as all } from './lib/a.ts';\nall.set(1, 2);`,
    };
    expect(changingVariables(new Map(Object.entries(files)))).toEqual(['src/lib/a.ts: known']);
  });
});

test.each([
  ['a constant table', 'export const table: ReadonlyMap<string, number> = new Map([["a", 1]]);\ntable.get("a");'],
  ['a variable of a function', 'export function count(): number { let n = 0; n += 1; return n; }'],
  [
    'an array of a function',
    'export function list(): string[] { const all: string[] = []; all.push("a"); return all; }',
  ],
  ['an argument', 'export function keep(all: string[]): void { all.push("a"); }'],
  ['a static constant', 'export class Pool { static readonly size = 1; }'],
])('%s is no state', (_case, source) => {
  expect(changingVariables(new Map([['src/a.ts', source]]))).toEqual([]);
});
