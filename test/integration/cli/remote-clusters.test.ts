import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ClusterView } from '../../../src/wire/clusters.ts';
import type { TestApi } from '../../support/api/http.ts';
import type { World } from '../../support/api/services.ts';
import type { CliRunner, CommandOptions } from '../../support/cli/cli.ts';
import { withCommandWorld } from '../../support/cli/command-world.ts';
import type { CommandEnd } from '../../support/cli/running-command.ts';
import { writeKubectl } from '../../support/cli/stand-in-kubectl.ts';
import { JwtSigner, timesFor } from '../../support/oidc/jwt-signer.ts';

const iss = 'https://kubernetes.default.svc.cluster.local';
const uid = 'b5b3f0a2-0000-4000-8000-000000000001';
let api: TestApi;
let world: World;
let cli: CliRunner;
let folder: string;
let signer: JwtSigner;
let name: string;

withCommandWorld((given) => {
  ({ api, world, cli } = given);
  folder = join(cli.folder, 'tools');
  mkdirSync(folder);
});

beforeEach(() => {
  signer = new JwtSigner('RS256');
  name = `fra-${randomUUID().slice(0, 8)}`;
  answerOfKubectl();
});

function answerOfKubectl({ issuer = iss, keys = [signer.jwk] as readonly object[], clusterUid = uid } = {}): void {
  writeKubectl(folder, 'fra-1', { discovery: { issuer }, jwks: { keys }, uid: clusterUid });
}

async function run(args: readonly string[], options: CommandOptions = {}): Promise<CommandEnd> {
  const path = [folder, dirname(process.execPath), process.env['PATH'] ?? ''].join(':');
  return await cli.run(args, { ...options, env: { PATH: path, ...options.env } });
}

async function shown(): Promise<ClusterView> {
  return await cli.json<ClusterView>(['cluster', 'show', name, '--all']);
}

/** Whether the token of this account and signer proves the cluster. */
async function isProven(by: JwtSigner, sub = 'system:serviceaccount:keyframe:keyframe-controller'): Promise<boolean> {
  const { registration } = await shown();
  const token = by.sign({ iss, sub, aud: [registration?.audience], ...timesFor(3_600) });
  return await api.services.clusterAuthentication.authenticate(token, name).then(
    () => true,
    () => false,
  );
}

describe('cluster create', () => {
  test('reads issuer, keys and uid through kubectl, and prints how the controller is installed', async () => {
    const { code, stdout, stderr } = await run(['cluster', 'create', name, '--kube-context', 'fra-1']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(`Bound to UID: ${uid}`) });
    const { registration, issuer, isHome } = await shown();
    expect({ isHome, issuer, uid: registration?.uid }).toEqual({ isHome: false, issuer: { iss, keyCount: 1 }, uid });
    const [, instance = ''] = registration?.audience.split('/') ?? [];
    expect(stderr.split('\n').map((line) => line.trim())).toEqual([
      'To install its controller, run where the chart is:',
      String.raw`helm install keyframe charts/keyframe \ `.trim(),
      String.raw`-n keyframe --create-namespace \ `.trim(),
      String.raw`--kube-context fra-1 \ `.trim(),
      String.raw`--set image.repository='<registry>/keyframe' \ `.trim(),
      String.raw`--set mode=agent \ `.trim(),
      String.raw`--set server.url='https://<address of the server>' \ `.trim(),
      `--set server.instance=${instance} \\`,
      `--set clusterName=${name}`,
      '',
    ]);
    expect(await isProven(signer)).toBe(true);
  });

  test('says that keys which were given stay until they are replaced', async () => {
    await run(['cluster', 'create', name, '--kube-context', 'fra-1']);
    const text = await cli.output(['cluster', 'show', name, '--all']);
    expect(text).toMatch(/^Keys: +given; if the cluster replaces them, run keyframe cluster update/m);
  });

  test('binds another ServiceAccount, which the command that installs it names', async () => {
    const account = ['--namespace', 'agents', '--service-account', 'fra'];
    const { stderr } = await run(['cluster', 'create', name, '--kube-context', 'fra-1', ...account]);
    expect(stderr).toContain('-n agents --create-namespace');
    expect(stderr).toContain('--set serviceAccount.name=fra');
    expect((await shown()).registration?.subject).toBe('system:serviceaccount:agents:fra');
  });

  test('needs no kubectl if issuer and keys are given', async () => {
    writeFileSync(join(cli.folder, 'keys.json'), JSON.stringify({ keys: [signer.jwk] }));
    const given = ['--issuer', iss, '--jwks-file', 'keys.json', '--uid', 'one'];
    expect((await cli.run(['cluster', 'create', name, ...given])).code).toBe(0);
    expect((await shown()).registration).toMatchObject({ jwksUrl: null, uid: 'one', algorithms: ['RS256'] });
  });

  test('names the URL of the keys if one is given', async () => {
    const given = ['--issuer', iss, '--jwks-url', 'https://keys.example/jwks', '--algorithm', 'ES256'];
    await cli.output(['cluster', 'create', name, ...given]);
    expect((await shown()).registration).toMatchObject({
      jwksUrl: 'https://keys.example/jwks',
      uid: null,
      algorithms: ['ES256'],
    });
    expect(await cli.output(['cluster', 'show', name, '--all'])).toMatch(/^Keys: +from https:\/\/keys.example\/jwks/m);
  });

  test.each([
    ['no source', [], 'needs --kube-context'],
    ['keys without an issuer', ['--jwks-url', 'https://keys.example'], 'need --issuer'],
    ['an issuer without keys', ['--issuer', iss], '--issuer needs its keys'],
    ['both kubectl and keys', ['--kube-context', 'fra-1', '--issuer', iss], 'give either --kube-context'],
  ])('refuses %s', async (_, options, message) => {
    const { code, stderr } = await run(['cluster', 'create', name, ...options]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });

  test('reports what kubectl says, and sends nothing', async () => {
    const { code, stderr } = await run(['cluster', 'create', name, '--kube-context', 'lost']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('--context=lost does not exist') });
    expect((await cli.run(['cluster', 'show', name, '--all'])).code).toBe(5);
  });

  test('says what to do without kubectl', async () => {
    const { code, stderr } = await run(['cluster', 'create', name, '--kube-context', 'fra-1'], {
      env: { PATH: dirname(process.execPath) },
    });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('kubectl is not on the PATH') });
  });

  test('refuses a cluster that is registered, and a home cluster unless it is meant', async () => {
    await run(['cluster', 'create', name, '--kube-context', 'fra-1']);
    expect((await run(['cluster', 'create', name, '--kube-context', 'fra-1'])).code).toBe(6);
    const home = `home-${name}`;
    const hello = { uid, isLeading: true, release: '1.0.0', protocol: { min: 1, max: 1 }, kinds: [] };
    await api.services.clusters.hello(home, hello);
    const { code, stderr } = await run(['cluster', 'create', home, '--kube-context', 'fra-1']);
    expect({ code, stderr }).toEqual({ code: 6, stderr: expect.stringContaining('--from-home') });
    await run(['cluster', 'create', home, '--kube-context', 'fra-1', '--from-home', '--yes']);
    expect(await cli.json(['cluster', 'show', home, '--all'])).toMatchObject({ isHome: false });
  });
});

describe('cluster update', () => {
  beforeEach(async () => {
    await run(['cluster', 'create', name, '--kube-context', 'fra-1']);
  });

  test('reads new keys through kubectl, and the former ones prove nothing', async () => {
    const next = new JwtSigner('RS256');
    answerOfKubectl({ keys: [next.jwk] });
    const { code } = await run(['cluster', 'update', name, '--kube-context', 'fra-1', '--yes']);
    expect(code).toBe(0);
    expect([await isProven(signer), await isProven(next)]).toEqual([false, true]);
    expect((await shown()).registration).toMatchObject({ generation: 2, version: 2 });
  });

  test('changes what is given, and keeps the rest', async () => {
    await cli.output(['cluster', 'update', name, '--uid', 'two', '--yes']);
    await cli.output(['cluster', 'update', name, '--service-account', 'other', '--yes']);
    const { registration, issuer } = await shown();
    expect({ registration, issuer }).toMatchObject({
      registration: { uid: 'two', subject: 'system:serviceaccount:keyframe:other', generation: 1, version: 3 },
      issuer: { keyCount: 1 },
    });
    await cli.output(['cluster', 'update', name, '--reset-uid', '--yes']);
    expect((await shown()).registration?.uid).toBeNull();
    expect(await isProven(signer, 'system:serviceaccount:keyframe:other')).toBe(true);
  });

  test('is for a cluster that is registered', async () => {
    const { code, stderr } = await cli.run(['cluster', 'update', 'unheard-of', '--reset-uid', '--yes']);
    expect({ code, stderr }).toEqual({ code: 5, stderr: expect.stringContaining('there is no cluster unheard-of') });
  });
});

test('cluster rules --accept lets the same rules count again', async () => {
  const { organization, project, environment } = world.slugs;
  await run(['cluster', 'create', name, '--kube-context', 'fra-1']);
  await cli.output(['cluster', 'allow', name, '-o', organization, '-p', project, '-e', environment]);
  await cli.output(['org', 'forbid-impersonation', organization]);
  answerOfKubectl({ keys: [new JwtSigner('RS256').jwk] });
  await run(['cluster', 'update', name, '--kube-context', 'fra-1', '--yes']);
  const { stderr } = await cli.run(['cluster', 'rules', name, '-o', organization]);
  expect(stderr).toContain(`keyframe cluster rules ${name} -o ${organization} --accept`);
  const accepted = await cli.json(['cluster', 'rules', name, '-o', organization, '--accept', '--yes']);
  expect(accepted).toMatchObject({ isOutdated: false, acceptedGeneration: 2 });
  await cli.output(['org', 'allow-impersonation', organization]);
});
