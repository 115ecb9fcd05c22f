import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import type { KubeObject } from '../../../tools/devcluster/cluster/kube-http.ts';
import type { Definition } from './definition-changes.ts';

/** What came out with earlier releases, never changed afterwards: their definitions, resources as people made them, and their charts. */
const releasedFolder = join(checkoutDirectory, 'test', 'released');

export interface ReleasedObject extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>;
}

export function releasedVersions(): string[] {
  return readdirSync(releasedFolder).sort();
}

/** The folder of a release's definitions. */
export function releasedDefinitionsFolder(release: string): string {
  return join(releasedFolder, release, 'crds');
}

/** The package of a release's chart, as helm takes it. */
export function releasedChart(release: string): string {
  return join(releasedFolder, release, `keyframe-${release}.tgz`);
}

/** The definitions of a folder. */
export function readDefinitions(folder: string): Definition[] {
  return documentsOf(folder) as unknown as Definition[];
}

/** Resources that a release took. */
export function releasedObjects(release: string): ReleasedObject[] {
  return documentsOf(join(releasedFolder, release, 'objects')) as ReleasedObject[];
}

function documentsOf(folder: string): KubeObject[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  const documents = files.sort().flatMap((name) => parseAllDocuments(readFileSync(join(folder, name), 'utf8')));
  return documents.map((document) => document.toJS() as KubeObject);
}
