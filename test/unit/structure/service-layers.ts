import { posix } from 'node:path';
import { importsOf } from './import-rules.ts';

/**
 * The folders of `src/services` by layer, the lowest first. A folder imports folders of lower layers only: none above, and
 * no other one of its own layer.
 */
export const serviceLayers: readonly (readonly string[])[] = [
  ['kernel', 'audit'],
  ['access'],
  ['change'],
  ['secrets', 'snapshots', 'tenancy', 'tokens', 'fleet', 'clusters', 'issuers', 'audit-entries'],
  ['changes', 'provenance'],
  ['people'],
  ['sign-in', 'managed'],
  ['cluster'],
];

/** What is wrong with the imports within the services of one of its files, a sentence each. */
export function layerFaults(path: string, source: string): string[] {
  const folder = folderOf(path);
  return importsOf(path, source).flatMap(({ specifier }) => {
    if (specifier?.startsWith('.') !== true) return [];
    const target = posix.join(posix.dirname(path), specifier);
    if (!target.startsWith('src/services/')) return [];
    const other = folderOf(target);
    if (other === folder || layerOf(other) < layerOf(folder)) return [];
    return [`${path}: ${folder} imports ${other}, which is not below it (${target})`];
  });
}

function folderOf(path: string): string {
  const [, , folder = '', file] = path.split('/');
  if (file === undefined || layerOf(folder) === -1) {
    throw new Error(`${path} is in no layer of the services known to the import rules.`);
  }
  return folder;
}

function layerOf(folder: string): number {
  return serviceLayers.findIndex((layer) => layer.includes(folder));
}
