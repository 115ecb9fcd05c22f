import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';

interface ValueSchema {
  readonly description?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, ValueSchema>>;
}

/** One value of the chart, as its README tells of it. */
interface ValueRow {
  readonly path: string;
  readonly type: string;
  readonly description: string;
  readonly default: unknown;
}

const introduction = `# The Helm chart of Keyframe

Made from values.yaml and values.schema.json by \`npm run generate\`: never edited by hand.

## Install

No public registry has the image: build it and push it to your registry, or mirror the one that you were given.

\`\`\`sh
npm run image -- --output keyframe.tar
skopeo copy docker-archive:keyframe.tar docker://registry.example.com/keyframe:0.1.0
helm install keyframe charts/keyframe --namespace keyframe --create-namespace \\
  --set image.repository=registry.example.com/keyframe --set bootstrap.adminEmail=you@example.com
helm test keyframe --namespace keyframe
kubectl -n keyframe get secret keyframe-admin -o 'go-template={{.data.token | base64decode}}'
\`\`\`

That is all for trying it out: a PostgreSQL with one pod and no backup runs beside the server. \`helm test\` writes a secret,
sees it arrive in a Kubernetes Secret, and removes both. The last command tells the token of the first administrator.

Before the installation and each upgrade, a Job (\`init\`) makes three Secrets if they are absent, and never touches one that
is there:

| Secret | keys | holds |
| --- | --- | --- |
| \`keyframe-root-key\` | \`root-key\` | the root key, under which everything in the database is encrypted. **Keep a copy elsewhere**: without it no backup can be read |
| \`keyframe-postgres\` | \`password\`, \`url\` | the password of the PostgreSQL beside the server, and its address |
| \`keyframe-admin\` | \`token\`, \`email\` | the token of the first administrator, whom the server makes in an empty database |

They belong to no release: \`helm uninstall\` leaves them, and GitOps neither compares nor prunes them. The Job cannot see the
database. Where the Secret of the root key was lost and the database was not, it makes a new key; the server then refuses to
start and names the key that is missing, until it stands in the Secret again. Likewise a new password does not open the volume
of a PostgreSQL that has another one, and a new token is not accepted by a database that has users already. When you have a
user of your own, revoke the administrator's token, set \`bootstrap.adminEmail\` to empty and delete the Secret; with the
address still set, the next upgrade would make a Secret whose token opens nothing.

With a database of your own, set \`postgres.enabled: false\` and name a Secret with its address in \`database.existingSecret\`.
If a private authority has signed its certificate, name a Secret with the authority's certificate in \`database.ca\`.

### With Secrets of your own

What an \`existingSecret\` names is never made. With \`init.enabled: false\` nothing is: the pods wait until you make what they
need, such as

\`\`\`sh
kubectl create namespace keyframe
kubectl -n keyframe create secret generic keyframe-root-key --from-literal=root-key="main:$(openssl rand -base64 32)"
password=$(openssl rand -hex 24)
kubectl -n keyframe create secret generic keyframe-postgres --from-literal=password="$password" \\
  --from-literal=url="postgresql://keyframe:$password@keyframe-postgres:5432/keyframe"
helm install keyframe charts/keyframe --namespace keyframe --set init.enabled=false \\
  --set bootstrap.adminEmail=you@example.com
\`\`\`

Without a Secret for the administrator, the pod that finds the database empty writes the token to \`/var/run/keyframe/token\`, in
memory: take it from there before that pod ends. The log of the pod that made it says so.

\`\`\`sh
kubectl -n keyframe exec deployment/keyframe -- node -p "fs.readFileSync('/var/run/keyframe/token', 'utf8')"
\`\`\`

## Upgrade and removal

The custom resource definitions are templates of the chart, so \`helm upgrade\` upgrades them.

\`helm uninstall\` leaves the definitions with all resources, the synced Secrets, the volume of PostgreSQL and the Secrets that
\`init\` made. Before it, a Job (\`pre-delete\`) takes the controllers' Lease, so that they stand by, and takes Keyframe's
finalizers off all resources, so that their namespaces can be deleted afterwards. It revokes and deletes nothing: tokens stay
good until they expire or you revoke them. A controller that is installed again works after half a minute, when that Lease has
run out, and puts the finalizers back.

With \`crds.keep: false\` the definitions go with the release, and all resources with them: Kubernetes then deletes what belongs
to a resource, which are the Secrets of SecretSyncs with \`deletionPolicy: Delete\` and of ServiceTokens. Nothing in the database
is deleted or revoked by that either.

If the Job cannot run, because the image cannot be pulled any more or a watched namespace is gone, \`helm uninstall --no-hooks\`
leaves it out; resources that hang then are let go by \`kubectl patch … --type merge --patch '{"metadata":{"finalizers":null}}'\`.

## Rights

What the controller may do stands in [files/](files). With \`watchNamespaces\` its rights on Secrets are a Role in each of
these namespaces, and nothing is granted cluster-wide but AccessGrants, SecretEnvironments and the list of namespaces; Events about
AccessGrants and SecretEnvironments are recorded in the namespace \`default\`, by a Role there.

The Jobs and the pod of \`helm test\` have accounts and rights of their own, which are there only while they run: \`init\` may
create Secrets in the release's namespace and read those that it makes; \`pre-delete\` may list and patch the kinds with
finalizers, and hold the Lease; the test may make one SecretSync and two Secrets of fixed names. An unknown value is refused.

With \`approvals.enabled\`, a ValidatingAdmissionPolicy has the API server ask whoever approves a SnapshotRestore for the
verb \`approve\` on it. Admins of a cluster have it; of the built-in roles none does. Bind the ClusterRole that ends in
\`-approver\` in a namespace to those who shall. By \`rbac.aggregate\`, the role admin may plan restores, and view and edit
may look at them.

## Values
`;

/** charts/keyframe/README.md: how to install, and every value with its default. Throws where a value has no description. */
export async function chartDocs(chart: string): Promise<string> {
  const schema = JSON.parse(await readFile(join(chart, 'values.schema.json'), 'utf8')) as ValueSchema;
  const values = parse(await readFile(join(chart, 'values.yaml'), 'utf8')) as unknown;
  const rows = valueRows(schema, values, '').map(
    (row) => `| \`${row.path}\` | ${row.type} | \`${JSON.stringify(row.default)}\` | ${row.description} |`,
  );
  return [introduction, '| value | type | default | meaning |', '| --- | --- | --- | --- |', ...rows, ''].join('\n');
}

// A value without a default in values.yaml, such as Helm's own «global», is not told of.
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
