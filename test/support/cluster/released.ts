import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import type { KubeObject } from '../../../tools/devcluster/cluster/kube-http.ts';
import type { Definition } from './definition-changes.ts';

/**
 * The release before the working version, its neighbour: servers of both run side by side. What it published is in
 * test/released, and never changes.
 */
export const formerRelease = '0.9.0';

const folder = join(checkoutDirectory, 'test', 'released', formerRelease);

export const formerDefinitionsFolder = join(folder, 'crds');

/** The package of its chart, as helm takes it. */
export const formerChart = join(folder, `keyframe-${formerRelease}.tgz`);

/** Its program, packed. */
export const formerProgram = join(folder, 'server.js.br');

/** Its recorded database, packed. */
export const formerDatabaseFile = join(folder, 'database.json.br');

/** The description of its HTTP interface. */
export const formerOpenApiFile = join(folder, 'openapi.json');

export interface ReleasedObject extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>;
}

/** Resources with each field of each kind, which the next release records. */
export function everyField(): ReleasedObject[] {
  return documentsOf(join(checkoutDirectory, 'test', 'support', 'fixtures', 'every-field')) as ReleasedObject[];
}

/** The definitions of a folder. */
export function readDefinitions(within: string): Definition[] {
  return documentsOf(within) as unknown as Definition[];
}

/** Resources that it took. */
export function formerObjects(): ReleasedObject[] {
  return documentsOf(join(folder, 'objects')) as ReleasedObject[];
}

function documentsOf(within: string): KubeObject[] {
  const files = readdirSync(within).filter((name) => name.endsWith('.yaml'));
  const documents = files.sort().flatMap((name) => parseAllDocuments(readFileSync(join(within, name), 'utf8')));
  return documents.map((document) => document.toJS() as KubeObject);
}
