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

The pods wait for two Secrets, which the chart does not make: the root key, under which everything in the database is
encrypted, and the password of PostgreSQL. Keep a copy of the root key elsewhere: without it no backup can be read.

\`\`\`sh
kubectl create namespace keyframe-system
kubectl -n keyframe-system create secret generic keyframe-root-key --from-literal=root-key="main:$(openssl rand -base64 32)"
password=$(openssl rand -hex 24)
kubectl -n keyframe-system create secret generic keyframe-postgres --from-literal=password="$password" \\
  --from-literal=url="postgresql://keyframe:$password@keyframe-postgres:5432/keyframe"
helm install keyframe charts/keyframe --namespace keyframe-system --set bootstrap.adminEmail=admin@example.com
\`\`\`

The PostgreSQL that comes with the chart is for trying out: one pod, without backup. With a database of your own, set
\`postgres.enabled: false\` and name a Secret with its address in \`database.existingSecret\`.

With \`bootstrap.adminEmail\`, the pod that finds the database empty makes the first administrator and writes the
token to \`/var/run/keyframe/admin-token\`, in memory: take it from there before that pod ends. The log of the pod that
made it says so.

\`\`\`sh
kubectl -n keyframe-system exec deployment/keyframe -- node -p "fs.readFileSync('/var/run/keyframe/admin-token', 'utf8')"
\`\`\`

The custom resource definitions are templates of the chart, so \`helm upgrade\` upgrades them; \`helm uninstall\` leaves
them, the volume of PostgreSQL and all synced Secrets in place. An unknown value is refused.

What the controller may do stands in [files/](files). With \`watchNamespaces\` its rights on Secrets are a Role in each of
these namespaces, and nothing is granted cluster-wide but AccessGrants, SecretEnvironments and the list of namespaces.

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
