import { existsSync, readdirSync, readFileSync } from 'node:fs';
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

// Resources with each field of each kind.
const everyFieldFolder = join(checkoutDirectory, 'test', 'support', 'fixtures', 'every-field');
const formerFolder = join(checkoutDirectory, 'test', 'released', formerRelease);
// Until it is recorded, what it will publish stands for it.
const isRecorded = existsSync(formerFolder);

export const formerDefinitionsFolder = join(isRecorded ? formerFolder : checkoutDirectory, 'crds');

/** Its chart, as helm takes it. */
export const formerChart = isRecorded
  ? join(formerFolder, `keyframe-${formerRelease}.tgz`)
  : join(checkoutDirectory, 'charts', 'keyframe');

/** The description of its HTTP interface. */
export const formerOpenApiFile = join(isRecorded ? formerFolder : join(checkoutDirectory, 'docs'), 'openapi.json');

export interface ReleasedObject extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>;
}

/** The definitions of a folder. */
export function readDefinitions(folder: string): Definition[] {
  return documentsOf(folder) as unknown as Definition[];
}

/** Resources that it took. */
export function formerObjects(): ReleasedObject[] {
  return documentsOf(isRecorded ? join(formerFolder, 'objects') : everyFieldFolder) as ReleasedObject[];
}

function documentsOf(folder: string): KubeObject[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  const documents = files.sort().flatMap((name) => parseAllDocuments(readFileSync(join(folder, name), 'utf8')));
  return documents.map((document) => document.toJS() as KubeObject);
}
