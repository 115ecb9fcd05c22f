/** @default The API server accepts each manifest of our pages, and helm each command and values file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseAllDocuments, stringify } from 'yaml';
import type { KubeObject } from '../../tools/devcluster/cluster/kube-http.ts';
import { adminClient, createNamespace, discardNamespace } from '../support/cluster/cluster.ts';
import { DryRun } from '../support/cluster/dry-run.ts';
import { fencedBlocks, pages, readPage, scriptsOf } from '../support/fixtures/documentation.ts';
import { chartFolder, neededValues, objectsOf, runHelm } from '../support/cluster/helm.ts';
import { shellCommands } from '../support/cli/shell-commands.ts';

/** What our pages show to be applied is accepted by an API server, and what they show for the chart by helm. */

interface Manifest extends KubeObject {
  readonly page: string;
}

const folder = mkdtempSync(join(tmpdir(), 'keyframe-docs-'));
let namespace: string;
let dryRun: DryRun;

beforeAll(async () => {
  namespace = await createNamespace();
  dryRun = new DryRun(adminClient(), namespace);
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await discardNamespace(namespace);
});

/** The YAML of a page: its blocks, and the here-documents in its commands. */
function yamlOf(page: string): string[] {
  const text = readPage(page);
  const commands = fencedBlocks(text, 'sh').map((block) => block.text);
  const heredocs = commands.flatMap((command) =>
    Array.from(command.matchAll(/<<'YAML'\n([^]*?)^YAML$/gm), ([, document = '']) => document),
  );
  return [...fencedBlocks(text, 'yaml').map((block) => block.text), ...heredocs];
}

const manifests: readonly Manifest[] = pages.flatMap((page) =>
  yamlOf(page)
    .flatMap((text) => parseAllDocuments(text))
    .map((document) => ({ page, ...(document.toJS() as KubeObject) }))
    .filter(({ apiVersion, kind }) => apiVersion !== undefined && kind !== undefined),
);

// What the API server of the tests knows: Kubernetes' own groups and ours.
const isKnown = ({ apiVersion = '' }: Manifest): boolean =>
  /^(?:v1|apps\/|batch\/|.*\.k8s\.io\/|keyframe\.dev\/)/.test(apiVersion);

/** Why the API server refuses a manifest; nothing if it accepts it. */
async function refusalOf({ page, ...object }: Manifest): Promise<string[]> {
  const { namespace: _place, ...metadata } = object.metadata;
  const refusal = await dryRun.refusal({ ...object, metadata });
  return refusal === undefined ? [] : [`${page}: ${object.kind ?? ''} ${object.metadata.name}: ${refusal}`];
}

describe('the manifests of our pages', () => {
  test('are accepted by the API server', async () => {
    const known = manifests.filter(isKnown);
    const kinds = new Set(known.map(({ kind }) => kind));
    for (const kind of ['AccessGrant', 'SecretEnvironment', 'SecretSync', 'SecretSnapshot', 'ServiceToken', 'Job']) {
      expect(kinds).toContain(kind);
    }
    expect(known.length).toBeGreaterThan(15);
    const refusals: string[] = [];
    for (const manifest of known) refusals.push(...(await refusalOf(manifest)));
    expect(refusals).toEqual([]);
  });

  test('a field that does not exist would be found', async () => {
    const [sync] = manifests.filter(({ kind }) => kind === 'SecretSync');
    if (sync === undefined) throw new Error('no page shows a SecretSync');
    const faulty = { ...sync, spec: { ...(sync as unknown as { spec: object }).spec, environmentReference: 'x' } };
    expect((await refusalOf(faulty)).join()).toContain('.spec.environmentReference: field not declared in schema');
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
  const given = manifests.filter((manifest) => manifest.page === page).flatMap((manifest) => valuesIn(manifest) ?? []);
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

describe('what our pages give to helm', () => {
  const releases = pages.flatMap(releasesOf);

  test('is taken by the chart and its schema', async () => {
    expect(releases.filter(({ page }) => page === 'docs/gitops.md')).toHaveLength(2);
    expect(releases.filter(({ page }) => page === 'docs/install.md').length).toBeGreaterThan(3);
    for (const release of releases) {
      const kinds = objectsOf(await render(release)).map(({ kind }) => kind);
      expect(kinds).toContain('Deployment');
    }
  });

  test('a value that the chart does not know would be found', async () => {
    const release = { page: 'docs/install.md', args: ['keyframe', 'charts/keyframe', '--set', 'replica=2'] };
    await expect(render(release)).rejects.toMatchObject({ stderr: expect.stringContaining("'replica' not allowed") });
  });
});
