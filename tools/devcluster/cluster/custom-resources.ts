import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';
import { apply } from './apply.ts';
import { ClusterError } from './cluster-error.ts';
import type { KubeHttp, KubeObject } from './kube-http.ts';

interface Definition extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string; readonly served: boolean }[];
  };
}

const servedPatienceMs = 30_000;
const pollMs = 50;

/** Installs the CustomResourceDefinitions of a folder's *.yaml files, and waits until the API server serves their resources. */
export async function installCustomResources(client: KubeHttp, folder: string): Promise<void> {
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  const definitions = files.sort().flatMap((name) => readDefinitions(join(folder, name)));
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  for (const definition of definitions) await apply(client, `${path}/${definition.metadata.name}`, definition);
  for (const definition of definitions) await waitUntilServed(client, definition);
}

function readDefinitions(path: string): Definition[] {
  const documents = parseAllDocuments(readFileSync(path, 'utf8'));
  return documents.map((document) => {
    const content = document.toJS() as Definition;
    if (content.kind !== 'CustomResourceDefinition')
      throw new ClusterError(`${path} is not a CustomResourceDefinition.`);
    return content;
  });
}

// Established is said a moment before the resource can be listed.
async function waitUntilServed(client: KubeHttp, { metadata, spec }: Definition): Promise<void> {
  const deadlineMs = Date.now() + servedPatienceMs;
  for (const { name } of spec.versions.filter((version) => version.served)) {
    const path = `/apis/${spec.group}/${name}/${spec.names.plural}?limit=1`;
    while ((await client.send({ path })).status !== 200) {
      if (Date.now() > deadlineMs)
        throw new ClusterError(`The API server does not serve ${metadata.name}, version ${name}.`);
      await sleep(pollMs);
    }
  }
}
