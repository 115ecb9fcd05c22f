import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';

interface ValueSchema {
  readonly description?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, ValueSchema>>;
}

/** One value of the chart, as its README lists it. */
interface ValueRow {
  readonly path: string;
  readonly type: string;
  readonly description: string;
  readonly default: unknown;
}

const introduction = `# The Helm chart of Keyframe

Generated from values.yaml and values.schema.json by \`npm run generate\`. Do not edit.

## Install

No public registry has the image, so \`image.repository\` has no default. Build the image and push it to your registry, or mirror the one that you received.

\`\`\`sh
npm run image -- --output keyframe.tar
skopeo copy docker-archive:keyframe.tar docker://registry.example.com/keyframe:1.0.0-dev
helm install keyframe charts/keyframe --namespace keyframe --create-namespace \\
  --set image.repository=registry.example.com/keyframe --set bootstrap.adminEmail=you@example.com
helm test keyframe --namespace keyframe
kubectl -n keyframe get secret keyframe-admin -o 'go-template={{.data.token | base64decode}}'
\`\`\`

This is a trial installation: it includes a PostgreSQL with one pod and no backup. \`helm test\` writes a secret, waits for it in a Kubernetes Secret, and removes both. The last command prints the token of the first administrator. [docs/install.md](../../docs/install.md) describes production.

### The Secrets

Before the installation and each upgrade, a Job (\`init\`) creates six Secrets if they are missing. It never changes an existing one:

| Secret | keys | contents |
| --- | --- | --- |
| \`keyframe-root-key\` | \`root-key\` | the root key, which encrypts everything in the database. **Keep a copy elsewhere**: without it no backup can be read |
| \`keyframe-postgres\` | \`password\`, \`url\` | the password of the owner of the chart's PostgreSQL, and the owner's address, for migrations |
| \`keyframe-postgres-run\` | \`url\` | the address as which the pods connect to it, as a role that cannot change tables or the audit |
| \`keyframe-admin\` | \`token\`, \`email\` | the token of the first administrator, whom the server creates in an empty database |
| \`keyframe-cluster-token\` | \`token\` | the home token, which the controller presents to the API |
| \`keyframe-cluster-tls\` | \`tls.crt\`, \`tls.key\`, \`ca.crt\` | the CA with which the API signs its certificates for the controller, valid for 10 years |

The Secrets belong to no release. \`helm uninstall\` leaves them, and GitOps does not compare or prune them.

The Job cannot see the database:

- If the Secret of the root key is lost and the database is not, the Job creates a new key. The server then refuses to start and names the missing key, until you restore it in the Secret.
- A new password does not open the volume of a PostgreSQL that has another one.
- A database that already has users does not accept a new token.

When you have your own user, revoke the administrator's token, set \`bootstrap.adminEmail\` to empty and delete the Secret. If the address stays set, the next upgrade creates a Secret whose token is not valid.

To use your own database, set \`postgres.enabled: false\` and name a Secret with its address in \`database.existingSecret\`. If a private authority signed its certificate, name a Secret with the authority's certificate in \`database.ca\`. With \`database.migration\`, a Job migrates it as another role than that of the pods.

### With your own Secrets

The Job does not create a Secret that an \`existingSecret\` names. With \`init.enabled: false\` it creates none: the pods wait until you create what they need, for example:

\`\`\`sh
kubectl create namespace keyframe
kubectl -n keyframe create secret generic keyframe-root-key --from-literal=root-key="main:$(openssl rand -base64 32)"
password=$(openssl rand -hex 24)
kubectl -n keyframe create secret generic keyframe-postgres --from-literal=password="$password" \\
  --from-literal=url="postgresql://keyframe:$password@keyframe-postgres:5432/keyframe"
\`\`\`

The pods then connect to PostgreSQL as the owner. \`postgres.runSecret\` names a Secret with the address of another role.

The controller needs a home token and a certificate of the API for its Service. The program creates the token with your own rights. The certificate can also come from cert-manager, or from your authority:

\`\`\`sh
docker run --rm --user "$(id -u)" -v "$HOME/.kube/config:/kubeconfig:ro" \\
  -e KEYFRAME_KUBECONFIG_FILE=/kubeconfig -e KEYFRAME_NAMESPACE=keyframe \\
  -e KEYFRAME_INIT_CLUSTER_TOKEN_SECRET=keyframe-cluster-token registry.example.com/keyframe:1.0.0-dev init
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj /CN=keyframe-cluster \\
  -addext subjectAltName=DNS:keyframe-cluster.keyframe.svc -keyout tls.key -out tls.crt
kubectl -n keyframe create secret generic keyframe-cluster-tls \\
  --from-file=tls.crt --from-file=tls.key --from-file=ca.crt=tls.crt
helm install keyframe charts/keyframe --namespace keyframe --set init.enabled=false \\
  --set controller.token.existingSecret=keyframe-cluster-token --set clusterTls.existingSecret=keyframe-cluster-tls \\
  --set image.repository=registry.example.com/keyframe --set bootstrap.adminEmail=you@example.com
\`\`\`

With \`controller.separate: false\` neither is needed.

Without a Secret for the administrator, the pod that finds the database empty writes the token to \`/var/run/keyframe/token\`, in memory. Its log reports that. Read the token before that pod ends:

\`\`\`sh
kubectl -n keyframe exec deployment/keyframe -- node -p "fs.readFileSync('/var/run/keyframe/token', 'utf8')"
\`\`\`

## The controller of another cluster

With \`mode: agent\` the chart installs the controller alone: no API, no PostgreSQL, no root key. It works through a server in another cluster, over HTTPS. \`keyframe cluster create\` registers the cluster and prints the command, in which you replace what it cannot know:

\`\`\`sh
helm install keyframe charts/keyframe -n keyframe --create-namespace \\
  --set image.repository=registry.example.com/keyframe --set mode=agent \\
  --set server.url=https://keyframe.example.com --set server.instance=abcdefghijklmnopqrstuvwxyz \\
  --set clusterName=fra-1
\`\`\`

The pods have no secret. Kubernetes signs them a token of their ServiceAccount, which proves this cluster to this server, and lives an hour. If a private authority signed the certificate of the server, name a Secret with the authority's certificate in \`server.ca\`. The chart refuses values that are for a server, and an upgrade never changes the mode. [docs/clusters.md](../../docs/clusters.md#join-a-cluster) describes what the organizations then allow.

## Upgrade and removal

The custom resource definitions are templates of the chart, so \`helm upgrade\` upgrades them. [docs/upgrade.md](../../docs/upgrade.md) describes upgrades, and [docs/leaving.md](../../docs/leaving.md) the whole removal.

\`helm uninstall\` leaves the definitions with all resources, the synced Secrets, the volume of PostgreSQL and the Secrets that \`init\` created. Before the removal, a Job (\`pre-delete\`) takes the controllers' Lease, so that they stop reconciling. It then removes Keyframe's finalizers from all resources, so that their namespaces can be deleted afterwards. It revokes and deletes nothing: tokens stay valid until they expire or you revoke them.

A controller that you install again starts after half a minute, when that Lease has expired, and restores the finalizers.

With \`crds.keep: false\` the definitions and all resources are deleted with the release. Kubernetes then deletes the dependents of these resources: the Secrets of SecretSyncs with \`deletionPolicy: Delete\` and of ServiceTokens. This also deletes or revokes nothing in the database.

The Job cannot run if its image can no longer be pulled or a watched namespace is gone. Then \`helm uninstall --no-hooks\` skips it. Release resources that hang with \`kubectl patch … --type merge --patch '{"metadata":{"finalizers":null}}'\`.

## Rights

[files/](files) has the rights of the controller. With \`watchNamespaces\`, its rights on Secrets are a Role in each of these namespaces. Cluster-wide it then has rights only on AccessGrants, SecretEnvironments, the list of namespaces and the public keys of the cluster. A Role in the namespace \`default\` lets it record Events about AccessGrants and SecretEnvironments there.

The Jobs and the pod of \`helm test\` have separate accounts and rights, which exist only while they run:

- \`init\` may create Secrets in the release's namespace and read those that it creates.
- \`pre-delete\` may list and patch the kinds with finalizers, and hold the Lease.
- The test may create one SecretSync and two Secrets of fixed names.

With \`approvals.enabled\`, a ValidatingAdmissionPolicy lets only users with the verb \`approve\` on a SnapshotRestore approve it. Cluster admins have it; no other built-in role does. Bind the ClusterRole that ends in \`-approver\` to the approvers in a namespace. With \`rbac.aggregate\`, the role admin may plan restores, and view and edit may read them.

## Values

The chart refuses an unknown value.
`;

/** charts/keyframe/README.md: how to install, and every value with its default. Throws if a value has no description. */
export async function chartDocs(chart: string): Promise<string> {
  const schema = JSON.parse(await readFile(join(chart, 'values.schema.json'), 'utf8')) as ValueSchema;
  const values = parse(await readFile(join(chart, 'values.yaml'), 'utf8')) as unknown;
  const rows = valueRows(schema, values, '').map(
    (row) => `| \`${row.path}\` | ${row.type} | \`${JSON.stringify(row.default)}\` | ${row.description} |`,
  );
  return [introduction, '| value | type | default | meaning |', '| --- | --- | --- | --- |', ...rows, ''].join('\n');
}

// A value without a default in values.yaml, such as Helm's own «global», is left out.
function valueRows(schema: ValueSchema, value: unknown, path: string): ValueRow[] {
  if (value === undefined) return [];
  if (isSection(schema, path)) {
    const values = value as Readonly<Record<string, unknown>>;
    return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
      valueRows(inner, values[name], path === '' ? name : `${path}.${name}`),
    );
  }
  if (schema.description === undefined) throw new Error(`the value ${path} has no description`);
  return [
    { path, type: schema.enum?.join(', ') ?? schema.type ?? '', description: schema.description, default: value },
  ];
}

// What Kubernetes calls resources is one value: requests and limits are set together.
function isSection({ properties }: ValueSchema, path: string): boolean {
  return properties !== undefined && !/(?:^|\.)resources$/.test(path);
}
