/** @default The API server accepts each manifest of our pages and examples, and helm each command and values file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { adminClient, createAccount, createNamespace, discardNamespace } from '../support/cluster/cluster.ts';
import { DryRun } from '../support/cluster/dry-run.ts';
import { fencedBlocks, pages, readPage, scriptsOf } from '../support/fixtures/documentation.ts';
import { chartFolder, neededValues, objectsOf, runHelm } from '../support/cluster/helm.ts';
import { definitionsFolder } from '../support/cluster/own-cluster.ts';
import { readDefinitions } from '../support/cluster/released.ts';
import { shellCommands } from '../support/cli/shell-commands.ts';
import { nonEmpty } from '../support/fixtures/non-empty.ts';
import { type Manifest, manifestSources, manifests, manifestsIn, unreadLines } from '../support/fixtures/manifests.ts';

/** An API server accepts what our pages and examples show to be applied, and helm what they show for the chart. */

const folder = mkdtempSync(join(tmpdir(), 'keyframe-docs-'));
let namespace: string;
let dryRun: DryRun;

beforeAll(async () => {
  namespace = await createNamespace();
  dryRun = new DryRun(adminClient(), namespace);
  // A pod is refused without its ServiceAccount.
  const accounts = manifests.flatMap(({ kind, spec }) => (kind === 'Pod' ? (spec?.['serviceAccountName'] ?? []) : []));
  for (const account of new Set(accounts as string[])) await createAccount(namespace, account);
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await discardNamespace(namespace);
});

// The kinds of other projects. The API server of the tests has no definition of them.
const foreign = [
  'argoproj.io Application',
  'cert-manager.io Certificate',
  'helm.toolkit.fluxcd.io HelmRelease',
  'kustomize.toolkit.fluxcd.io Kustomization',
  'postgresql.cnpg.io Cluster',
  'postgresql.cnpg.io ScheduledBackup',
  'source.toolkit.fluxcd.io GitRepository',
];

const kindOf = ({ apiVersion = '', kind = '' }: Manifest): string => `${apiVersion.replace(/\/?[^/]*$/, '')} ${kind}`;
const isForeign = (manifest: Manifest): boolean => foreign.includes(kindOf(manifest));

/** Why the API server refuses a manifest; nothing if it accepts it. */
async function refusalOf({ source, ...object }: Manifest): Promise<string[]> {
  const { namespace: _place, ...metadata } = object.metadata;
  const refusal = await dryRun.refusal({ ...object, metadata });
  return refusal === undefined ? [] : [`${source}: ${object.kind ?? ''} ${object.metadata.name}: ${refusal}`];
}

describe('the manifests of our pages and examples', () => {
  const applied = manifests.filter((manifest) => !isForeign(manifest));

  test('are accepted by the API server', async () => {
    const refusals: string[] = [];
    for (const manifest of applied) refusals.push(...(await refusalOf(manifest)));
    expect(refusals).toEqual([]);
  });

  test('are all applied, but those of other projects', () => {
    expect([...new Set(manifests.filter(isForeign).map(kindOf))].toSorted()).toEqual(foreign);
    for (const field of ['apiVersion', 'kind']) {
      const inText = manifestSources.flatMap(({ text }) => text.match(new RegExp(`^${field}: `, 'gm')) ?? []);
      expect([field, inText.length]).toEqual([field, manifests.length]);
    }
    expect(applied.length).toBeGreaterThan(100);
    const ours = readDefinitions(definitionsFolder).map(({ spec }) => spec.names['kind']);
    expect(applied.map(({ kind }) => kind)).toEqual(expect.arrayContaining(ours));
  });

  test('all stand where this test reads them', () => {
    const unread = manifestSources.flatMap(({ source, text }) =>
      unreadLines(source, text).map((line) => `${source}: ${line}`),
    );
    expect(unread).toEqual([]);
  });
});

describe('a planted fault is found:', () => {
  const token = 'apiVersion: keyframe.dev/v1alpha1\nkind: ServiceToken\nmetadata: { name: ci }\n';
  const flat = `${token}spec: { scope: Project, organization: acme, project: web }\n`;

  test.each([
    ['page.md', `Text.\n\n\`\`\`yaml\n${flat}\`\`\`\n`],
    ['page.md', `\`\`\`sh\nkubectl apply -f - <<'YAML'\n${flat}YAML\n\`\`\`\n`],
    ['deploy.sh', `kubectl create -f - <<YAML\n${flat}YAML\n`],
    ['example.yaml', `# Two tokens.\n${flat}`],
  ])('a field that does not exist, in %s', async (source, text) => {
    const [manifest, ...others] = manifestsIn(source, text);
    if (manifest === undefined) throw new Error('the manifest was not read');
    expect([others, unreadLines(source, text)]).toEqual([[], []]);
    expect((await refusalOf(manifest)).join()).toContain('.spec.project: field not declared in schema');
  });

  test.each([
    ['page.md', `1. Apply:\n\n   \`\`\`yaml\n   ${flat.replaceAll('\n', '\n   ')}\n   \`\`\`\n`],
    ['page.md', `\`\`\`json\n{ "apiVersion": "v1", "kind": "Secret" }\n\`\`\`\n`],
    ['page.md', `\`\`\`sh\nkubectl apply -f - <<EOF\n${flat}EOF\n\`\`\`\n`],
    ['deploy.sh', `echo 'apiVersion: v1' >> file\n`],
  ])('a manifest that is not read, in %s', (source, text) => {
    expect(manifestsIn(source, text)).toEqual([]);
    expect(unreadLines(source, text)).toHaveLength(1);
  });
});

interface Release {
  readonly page: string;
  readonly args: readonly string[];
}

/** The values of the chart that stand in a manifest of Argo CD or Flux. */
function valuesIn(manifest: Manifest): object | undefined {
  const { spec } = manifest as unknown as {
    spec?: { values?: object; source?: { helm?: { valuesObject?: object } } };
  };
  return manifest.kind === 'HelmRelease' ? spec?.values : spec?.source?.helm?.valuesObject;
}

/** `# production.yaml: values of the chart` names a block, which then lies in the folder of that page. */
function writeValues(page: string): void {
  for (const { text } of fencedBlocks(readPage(page), 'yaml')) {
    const name = /^# (\S+\.yaml): values of the chart$/m.exec(text)?.[1];
    if (name !== undefined) writeFileSync(join(folder, name), filledIn(text));
  }
}

/** Every `helm install` and `helm upgrade` of a page, and what GitOps would give to helm. */
function releasesOf(page: string): Release[] {
  const typed = scriptsOf(page)
    .flatMap(shellCommands)
    .filter(([program, action]) => program === 'helm' && (action === 'install' || action === 'upgrade'))
    .map(([, action, ...args]) => ({ page, args: action === 'upgrade' ? [...args, '--is-upgrade'] : args }));
  const given = manifests.filter(({ source }) => source === page).flatMap((manifest) => valuesIn(manifest) ?? []);
  return [
    ...typed,
    ...given.map((values, index) => {
      const name = `${page.replaceAll('/', '-')}-${index}.yaml`;
      writeFileSync(join(folder, name), filledIn(stringify(values)));
      return { page, args: ['keyframe', 'charts/keyframe', '-n', 'keyframe', '-f', name] };
    }),
  ];
}

// What only a real installation or upgrade takes.
const notForTemplates = ['--create-namespace', '--reset-then-reuse-values'];

/** A text of a page as a reader completes it: the chart refuses the page's own address. */
function filledIn(text: string): string {
  return text.replaceAll('you@example.com', 'you@keyframe.test');
}

/** As helm would render it; `-f` names files of the page, and the chart is the checkout's. */
async function render({ page, args }: Release): Promise<string> {
  writeValues(page);
  // The values of the installation, which that option takes over.
  const reused = args.includes('--reset-then-reuse-values') ? neededValues : [];
  const own = args
    .filter((word) => !notForTemplates.includes(word))
    .map((word) => (/^charts\/keyframe$|\.tgz$/.test(word) ? chartFolder : word))
    .map(filledIn)
    .map((word, index, all) => (all[index - 1] === '-f' ? join(folder, word) : word));
  return await runHelm(['template', ...own, ...reused]);
}

// Without definitions there, and the definitions themselves, which the cluster has.
const notHere = ['monitoring.coreos.com/v1', 'gateway.networking.k8s.io/v1', 'apiextensions.k8s.io/v1'];

describe('what our pages give to helm', () => {
  const releases = pages.flatMap(releasesOf);
  let rendered: { readonly page: string; readonly objects: readonly Manifest[] }[];

  beforeAll(async () => {
    rendered = [];
    for (const release of releases)
      rendered.push({ page: release.page, objects: objectsOf(await render(release)) as Manifest[] });
  });

  test('is taken by the chart and its schema', () => {
    expect(releases.filter(({ page }) => page === 'docs/gitops.md')).toHaveLength(2);
    expect(releases.filter(({ page }) => page === 'docs/install.md').length).toBeGreaterThan(3);
    for (const { objects } of nonEmpty(rendered)) expect(objects.map(({ kind }) => kind)).toContain('Deployment');
  });

  test('renders objects that the API server accepts', async () => {
    const refusals: string[] = [];
    let tried = 0;
    for (const { page, objects } of rendered) {
      for (const object of objects.filter((one) => !notHere.includes(one.apiVersion ?? '') && one.kind !== 'Pod')) {
        refusals.push(...(await refusalOf({ ...object, source: page })));
        tried += 1;
      }
    }
    expect(tried).toBeGreaterThan(100);
    expect(refusals).toEqual([]);
  });

  test('a value that the chart does not know would be found', async () => {
    const release = { page: 'docs/install.md', args: ['keyframe', 'charts/keyframe', '--set', 'replica=2'] };
    await expect(render(release)).rejects.toMatchObject({ stderr: expect.stringContaining("'replica' not allowed") });
  });
});

/** What the pages say of an installation `keyframe` in the namespace `keyframe`: a kind and a name. */
function namesOf(text: string): string[] {
  const accounts = text.matchAll(/system:serviceaccount:keyframe:([a-z-]+)/g);
  const typed = text.matchAll(
    /-n keyframe [^\n`]*?\b(deployment|statefulset|job|service|secret)s?[/ ](keyframe[a-z-]*)/g,
  );
  const described = text.matchAll(
    /\b(Deployment|StatefulSet|Job|Service|ServiceAccount|Secret)s? `(keyframe[a-z-]*)`/g,
  );
  return [
    ...Array.from(accounts, ([, name = '']) => `serviceaccount/${name}`),
    ...Array.from([...typed, ...described], ([, kind = '', name = '']) => `${kind.toLowerCase()}/${name}`),
  ];
}

/** What the chart makes with its defaults, and with a separate role in an external database. */
async function namesOfChart(): Promise<ReadonlySet<string>> {
  const external = {
    'postgres.enabled': 'false',
    'database.existingSecret': 'run',
    'database.migration.existingSecret': 'owner',
  };
  const values = Object.entries(external).flatMap(([path, value]) => ['--set', `${path}=${value}`]);
  const texts = await Promise.all(
    [[], values].map((more) =>
      runHelm(['template', 'keyframe', chartFolder, '-n', 'keyframe', ...neededValues, ...more]),
    ),
  );
  const made = texts.flatMap(objectsOf).map(({ kind = '', metadata }) => `${kind.toLowerCase()}/${metadata.name}`);
  // The Secrets that init creates.
  const secrets = texts.flatMap((text) => text.match(/(?<=_SECRET, value: )[a-z-]+/g) ?? []);
  return new Set([...made, ...secrets.map((name) => `secret/${name}`)]);
}

/** `helm test` creates it, and deletes it. */
const ofSmokeTest = 'secret/keyframe-smoke-test';

describe('the names of an installation in our pages', () => {
  let ofChart: ReadonlySet<string>;
  beforeAll(async () => {
    ofChart = await namesOfChart();
  });

  test('are those of the chart, or of what the pages create', () => {
    const ofPages = pages.flatMap((page) =>
      Array.from(readPage(page).matchAll(/create secret generic ([a-z-]+)/g), ([, name = '']) => `secret/${name}`),
    );
    const ofManifests = manifests.map(({ kind = '', metadata }) => `${kind.toLowerCase()}/${metadata.name}`);
    const known = new Set([...ofChart, ...ofPages, ...ofManifests, ofSmokeTest]);
    const named = pages.flatMap((page) => namesOf(readPage(page)).map((name) => ({ page, name })));
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter(({ name }) => !known.has(name))).toEqual([]);
  });

  test.each([
    ['serviceaccount/keyframe', '`kubectl auth can-i list x --as system:serviceaccount:keyframe:keyframe`'],
    ['deployment/keyframe-api', 'kubectl -n keyframe rollout status deployment/keyframe-api'],
    ['secret/keyframe-token', 'The Secret `keyframe-token` has the token.'],
  ])('%s would be found', (name, text) => {
    expect(namesOf(text)).toEqual([name]);
    expect(ofChart.has(name)).toBe(false);
  });
});
