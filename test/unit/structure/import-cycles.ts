import { posix } from 'node:path';
import { importsOf } from './import-rules.ts';

/**
 * The cycles among files that import each other, types included: each as the sorted paths of all files that reach each
 * other. `sources` are the files by their paths, such as `src/controller/names.ts`; imports of other files do not count.
 */
export function importCycles(sources: ReadonlyMap<string, string>): readonly (readonly string[])[] {
  const imports = new Map([...sources].map(([path, source]) => [path, importedFiles(path, source)] as const));
  const reached = new Map([...sources.keys()].map((path) => [path, reachableFrom(path, imports)] as const));
  const isMutual = (one: string, other: string): boolean =>
    reached.get(one)?.has(other) === true && reached.get(other)?.has(one) === true;
  const cycles = [...sources.keys()].map((path) => [...sources.keys()].filter((other) => isMutual(path, other)).sort());
  const unique = new Map(cycles.filter((cycle) => cycle.length > 0).map((cycle) => [cycle.join(), cycle]));
  return [...unique.values()];
}

function importedFiles(path: string, source: string): readonly string[] {
  return importsOf(path, source).flatMap(({ specifier }) =>
    specifier?.startsWith('.') === true ? [posix.join(posix.dirname(path), specifier)] : [],
  );
}

/** The files that a file imports, and those that these import, and so on; itself only if it is on a cycle. */
function reachableFrom(path: string, imports: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set<string>();
  const waiting = [...(imports.get(path) ?? [])];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    waiting.push(...(imports.get(next) ?? []));
  }
  return reached;
}
