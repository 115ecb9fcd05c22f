import { relative } from 'node:path';
import type { Cluster } from '../devcluster/cluster/cluster.ts';
import { sample } from './sample.ts';

const { organization, project, environment } = sample;

/** What is known as soon as the API answers. */
export function apiReport(url: string, adminTokenFile: string): string {
  return `dashboard   ${dashboardOf(url)}
API         ${url}
token       ${shown(adminTokenFile)}  (the admin's: paste its content into the dashboard)`;
}

/** Browsers keep the cookie of a session over http on localhost alone. */
function dashboardOf(url: string): string {
  return url.replace('127.0.0.1', 'localhost');
}

/** The native Secret: its name and keys, never its values. */
export function secretReport(keys: readonly string[], cluster?: string): string {
  const where = cluster === undefined ? '' : `  of the cluster ${cluster}`;
  return `Secret      default/quickstart  holds ${keys.join(', ')}${where}`;
}

/** A further cluster, and what its controller reaches of the server. */
export interface RemoteReport {
  readonly name: string;
  readonly cluster: Cluster;
  readonly url: string;
  /** Why it is in the network of this machine; undefined if it is apart. */
  readonly spaceFault: string | undefined;
}

export function remoteReport({ name, cluster, url, spaceFault }: RemoteReport): string {
  const network =
    spaceFault === undefined
      ? 'in a network of its own, without a route to PostgreSQL'
      : `in the network of this machine, because a network of its own cannot be made: ${spaceFault}`;
  return `cluster     ${name}  works through ${url}, ${network}
kubeconfig  ${shown(cluster.published ?? cluster.kubeconfig)}`;
}

/** How to go on with the API alone. */
export function apiCommands(url: string, adminTokenFile: string): string {
  return `
${signIn(url, adminTokenFile)}

Change a value, and read the environment:
  keyframe set LOG_LEVEL=debug
  keyframe list --reveal

${end}`;
}

export interface Commands {
  readonly url: string;
  readonly adminTokenFile: string;
  readonly cluster: Cluster;
  readonly remotes: readonly RemoteReport[];
}

/** How to go on with the cluster: change a value, edit and delete the Secret, withdraw the grant. */
export function clusterCommands({ url, adminTokenFile, cluster, remotes }: Commands): string {
  return `kubeconfig  ${shown(cluster.published ?? cluster.kubeconfig)}

${signIn(url, adminTokenFile)}

${remotes.length === 0 ? 'Three' : 'Four'} things to try there:

1. Change a value, and see the Secret follow:
  keyframe set LOG_LEVEL=debug
  npm run -s kubectl -- get secret quickstart -o jsonpath='{.data.LOG_LEVEL}' | base64 -d; echo

2. Edit the Secret, or delete it, and see it repaired:
  npm run -s kubectl -- patch secret quickstart -p '{"stringData":{"LOG_LEVEL":"edited"}}'
  npm run -s kubectl -- get secret quickstart -o jsonpath='{.data.LOG_LEVEL}' | base64 -d; echo
  npm run -s kubectl -- delete secret quickstart
  npm run -s kubectl -- get secret quickstart

3. Withdraw the grant: the controller stops reading, and the Secret stays as it is until the grant is back.
  npm run -s kubectl -- delete accessgrants.keyframe.dev quickstart
  npm run -s kubectl -- wait --for=condition=Ready=false secretsyncs.keyframe.dev/quickstart
  npm run -s kubectl -- get secretsyncs.keyframe.dev quickstart -o wide
  keyframe set LOG_LEVEL=warn
  npm run -s kubectl -- apply --server-side -f examples/quickstart.yaml
  npm run -s kubectl -- wait --for=condition=Ready secretsyncs.keyframe.dev/quickstart
  npm run -s kubectl -- get secret quickstart -o jsonpath='{.data.LOG_LEVEL}' | base64 -d; echo
${remotes.slice(0, 1).map(remoteCommands).join('')}
${end}`;
}

/** The fourth thing: what the organization allows a remote cluster. */
function remoteCommands({ name, cluster }: RemoteReport): string {
  const kubectl = `npm run -s kubectl -- --kubeconfig ${shown(cluster.published ?? cluster.kubeconfig)}`;
  const place = `-o ${organization} -p ${project} -e ${environment}`;
  return `
4. Say that the cluster ${name} may not have the environment: only its controller stops reading.
  keyframe cluster list --all
  keyframe cluster deny ${name} ${place} --yes
  ${kubectl} wait --for=condition=Ready=false secretsyncs.keyframe.dev/quickstart
  ${kubectl} get secretsyncs.keyframe.dev quickstart -o wide
  keyframe cluster allow ${name} ${place}
  ${kubectl} wait --for=condition=Ready secretsyncs.keyframe.dev/quickstart
`;
}

const end = 'Ctrl-C stops everything; the data stay in .dev/. More to do: docs/tutorial.md.';

/** As README.md has it. */
function signIn(url: string, adminTokenFile: string): string {
  return `In another terminal, here as well (bash or zsh), sign in and say which environment is meant:
  keyframe() { npm run -s keyframe -- "$@"; }
  keyframe login --url ${url} --token-file ${shown(adminTokenFile)}
  keyframe init -o ${organization} -p ${project} -e ${environment}`;
}

function shown(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}
