import { relative } from 'node:path';
import type { Cluster } from '../cluster/cluster.ts';
import { sample } from './sample.ts';

const environmentPath = `${sample.organization}/${sample.project}/${sample.environment}`;

/** What is known as soon as the API answers. */
export function apiReport(url: string, adminTokenFile: string): string {
  return `API         ${url}
token       ${shown(adminTokenFile)}  (the admin's; a file only you can read)`;
}

/** The native Secret: its name and keys, never its values. */
export function secretReport(keys: readonly string[]): string {
  return `Secret      default/quickstart  holds ${keys.join(', ')}`;
}

/** How to go on with the API alone. */
export function apiCommands(url: string, adminTokenFile: string): string {
  return `
Change a value and read the environment:
${changeCommand(url, adminTokenFile)}

  curl -s -w '\\n' ${url}/api/v1/secrets/${environmentPath} \\
    -H "Authorization: Bearer $(cat ${shown(adminTokenFile)})"

Ctrl-C stops everything; the data stay in .dev/.`;
}

export interface Commands {
  readonly url: string;
  readonly adminTokenFile: string;
  readonly cluster: Cluster;
  readonly serviceTokenId: string;
}

/** How to go on with the cluster: change a value, edit the Secret, revoke the token. */
export function clusterCommands({ url, adminTokenFile, cluster, serviceTokenId }: Commands): string {
  return `kubeconfig  ${shown(cluster.published ?? cluster.kubeconfig)}

Three things to try in another terminal:

1. Change a value, and see the Secret follow:
${changeCommand(url, adminTokenFile)}
  npm run -s kubectl -- get secret quickstart -o jsonpath='{.data.LOG_LEVEL}' | base64 -d; echo

2. Edit the Secret, and see it repaired:
  npm run -s kubectl -- patch secret quickstart -p '{"stringData":{"LOG_LEVEL":"edited"}}'
  npm run -s kubectl -- get secret quickstart -o jsonpath='{.data.LOG_LEVEL}' | base64 -d; echo

3. Revoke the service token, and see the condition say so:
  curl -s -X DELETE ${url}/api/v1/service-tokens/${sample.organization}/${serviceTokenId} \\
    -H "Authorization: Bearer $(cat ${shown(adminTokenFile)})"
  npm run -s kubectl -- get secretsync quickstart -o wide

Ctrl-C stops everything; the data stay in .dev/.`;
}

function changeCommand(url: string, adminTokenFile: string): string {
  return `  curl -s -w '\\n' -X PUT ${url}/api/v1/secrets/${environmentPath}/LOG_LEVEL \\
    -H "Authorization: Bearer $(cat ${shown(adminTokenFile)})" \\
    -H 'Content-Type: application/json' -d '{"value": "debug"}'`;
}

function shown(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}
