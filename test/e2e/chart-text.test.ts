import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { chartFolder, neededValues, renderChart, runHelm } from '../support/cluster/helm.ts';

/** What helm says of the chart: its notes, and the values that it refuses. */

// Not the documented one: a name that the notes copy from the pages must not pass.
const namespace = 'elsewhere';
const agent = [
  'mode=agent',
  'server.url=https://keyframe.example.com',
  'server.instance=abcdefghijklmnopqrstuvwxyz',
  'clusterName=fra-1',
  'bootstrap.adminEmail=',
];

test('a release’s notes show the next commands, and which Secrets it makes and waits for', async () => {
  const token =
    "$(kubectl -n elsewhere get secret mine-keyframe-admin -o 'go-template={{.data.token | base64decode}}')";
  const url = 'KEYFRAME_URL=http://127.0.0.1:8700';
  const byDefault = await notes();
  expect(commandsOf(byDefault)).toEqual([
    `kubectl -n ${namespace} rollout status deployment/mine-keyframe`,
    `kubectl -n ${namespace} rollout status deployment/mine-keyframe-controller`,
    `kubectl -n ${namespace} port-forward service/mine-keyframe 8700:80 &`,
    `${url} KEYFRAME_TOKEN=${token} keyframe whoami`,
  ]);
  expect(byDefault).toContain(
    'these Secrets if they are missing: mine-keyframe-root-key, mine-keyframe-postgres, mine-keyframe-postgres-run, mine-keyframe-admin, mine-keyframe-cluster-token, mine-keyframe-cluster-tls.',
  );
  expect(byDefault).toContain('helm test mine');
  expect(byDefault).not.toContain('start when');
  expect(byDefault).not.toContain('WARNING');
  const untrusted = await notes('ingress.enabled=true', 'ingress.host=keyframe.example.com');
  expect(untrusted).toContain('WARNING: trustedProxies is empty.');
  const trusted = await notes(
    'ingress.enabled=true',
    'ingress.host=keyframe.example.com',
    'trustedProxies={10.42.0.0/16}',
  );
  expect(trusted).not.toContain('WARNING');
  const secured = await notes(
    'tls.existingSecret=kf-tls',
    'clusterTls.existingSecret=kf-cluster',
    'controller.token.existingSecret=kf-token',
    'service.port=443',
    'httpRoute.enabled=true',
    'httpRoute.parentRefs[0].name=gw',
  );
  expect(secured).toContain('which you create: kf-tls, kf-token, kf-cluster.');
  expect(secured).toContain('WARNING: trustedProxies is empty.');
  expect(commandsOf(secured)[2]).toMatch(/ 8700:443 &$/);
  expect(commandsOf(secured)[3]).toMatch(/^KEYFRAME_URL=https:/);
  const asOwner = await notes(
    'postgres.enabled=false',
    'database.existingSecret=run',
    'database.migration.existingSecret=own',
  );
  expect(asOwner).toContain('which you create: run, own.');
  const recovering = await notes('recovery.enabled=true');
  expect(recovering).toContain('the Job mine-keyframe-recovered creates a token');
  expect(commandsOf(recovering)).toEqual([]);
  const bare = await notes('init.enabled=false', 'bootstrap.adminEmail=', 'controller.separate=false');
  expect(commandsOf(bare)).toHaveLength(3);
  expect(commandsOf(bare)[2]).toBe(`export ${url}`);
  expect(bare).toContain('which you create: mine-keyframe-root-key, mine-keyframe-postgres.');
  expect(bare).not.toMatch(/Job init|helm test/);
});

test('the notes of an agent name the account that the server must know, and no Secret but that of the authorities', async () => {
  const shown = await notes(...agent);
  expect(commandsOf(shown)).toEqual([
    `kubectl -n ${namespace} rollout status deployment/mine-keyframe-controller`,
    'keyframe cluster show fra-1 --all',
    'keyframe cluster allow fra-1 -o ORGANIZATION -p PROJECT -e ENVIRONMENT',
  ]);
  expect(shown).toContain(`system:serviceaccount:${namespace}:mine-keyframe-controller`);
  expect(shown).not.toMatch(/root key|which you create|helm test/);
  expect(await notes(...agent, 'server.ca.existingSecret=ca')).toContain('which you create: ca.');
});

/** What helm prints after an installation as `mine`, with these settings. */
async function notes(...settings: readonly string[]): Promise<string> {
  const more = settings.flatMap((setting) => ['--set', setting]);
  const install = [
    'install',
    'mine',
    chartFolder,
    '--dry-run=client',
    '--namespace',
    namespace,
    ...neededValues,
    ...more,
  ];
  return (await runHelm(install)).split('\nNOTES:\n')[1] ?? '';
}

function commandsOf(text: string): string[] {
  const lines = text.split('\n').filter((line) => line.startsWith('  '));
  return lines.map((line) => line.trim());
}

test.each([
  [['replicas=0'], '/replicas'],
  [['replica=2'], 'replica'],
  [['image.tags=1'], 'tags'],
  [['image.repository=registry.test:5000/keyframe:1.0.0'], 'image.repository is registry.test:5000/keyframe:1.0.0'],
  [['image.repository=docker://registry.test/keyframe'], 'without a scheme'],
  [['logLevel=verbose'], '/logLevel'],
  [['shutdownDelay=5'], '/shutdownDelay'],
  [['watchNamespaces={Team_A}'], '/watchNamespaces'],
  [['service.type=ExternalName'], '/service/type'],
  [['rateLimits.requests=many'], '/rateLimits/requests'],
  [['resources.limit.cpu=1'], 'limit'],
  [['postgres.enabled=false'], 'database.existingSecret'],
  [['database.existingSecret=mine'], 'postgres.enabled'],
  [['postgres.enabled=false', 'database.url=mysql://host/db'], '/database/url'],
  [['postgres.enabled=false', 'database.url=postgresql://host/db', 'database.existingSecret=mine'], 'database.url'],
  [['database.directKey=direct'], 'database.directKey'],
  [['database.ca.existingSecret=mine'], 'database.ca'],
  [['ingress.enabled=true'], 'ingress.host'],
  [['ingress.extraHosts[0].host=a.test'], 'ingress.extraHosts needs ingress.enabled'],
  [['autoscaling.enabled=true', 'replicas=9'], 'autoscaling.maxReplicas'],
  [
    ['postgres.enabled=false', 'database.existingSecret=mine', 'postgres.backup.enabled=true'],
    'postgres.backup dumps the chart',
  ],
  [['postgres.backup.enabled=true', 'postgres.backup.schedule=nightly'], '/postgres/backup/schedule'],
  [['httpRoute.enabled=true'], 'httpRoute.parentRefs'],
  [['service.loadBalancerClass=internal'], 'service.type'],
  [['rolloutNamespaces={team-a}'], 'rollouts'],
  [['rollouts=true', 'rolloutNamespaces={team-a}', 'watchNamespaces={team-b}'], 'watchNamespaces'],
  [['commonLabels.app\\.kubernetes\\.io/name=mine'], '/commonLabels'],
  [['database.migration.existingSecret=owner'], 'database.migration'],
  [
    ['postgres.enabled=false', 'database.url=postgresql://host/db', 'database.migration.existingSecret=owner'],
    'database.existingSecret',
  ],
  [
    ['postgres.enabled=false', 'database.existingSecret=same', 'database.migration.existingSecret=same'],
    'database.migration and database.existingSecret name the same address (key url of the Secret same)',
  ],
  [['database.finishUpgrade=yes'], '/database/finishUpgrade'],
  [['database.finishUpgrade=1'], '/database/finishUpgrade'],
  [['database.finishUpgrade=99.0'], 'database.finishUpgrade is 99.0'],
  [['shutdownDelay=30s'], 'terminationGracePeriodSeconds'],
  [['bootstrap.adminEmail=', 'bootstrap.existingSecret=mine'], 'bootstrap.existingSecret'],
  [['bootstrap.adminEmail=you@example.com'], 'bootstrap.adminEmail'],
  [['bootstrap.adminEmail=admin@mail.example.org'], 'bootstrap.adminEmail'],
  [['bootstrap.adminEmail=Ann@shop.EXAMPLE'], 'bootstrap.adminEmail'],
  [['init.enabled=false'], 'name it in controller.token.existingSecret'],
  [['init.enabled=false', 'controller.token.existingSecret=kf-token'], 'name it in clusterTls.existingSecret'],
  [['rbac.create=false'], 'init.enabled'],
  [['serviceAccount.create=false'], 'init.enabled'],
  [['image.repository=<registry>/keyframe'], '/image/repository'],
  [['mode=client'], '/mode'],
  [['server.url=https://keyframe.example.com'], 'server.url is for mode agent, and mode is server'],
  [['server.instance=abcdefghijklmnopqrstuvwxyz'], 'server.instance is for mode agent'],
  [['server.ca.existingSecret=ca'], 'server.ca.existingSecret is for mode agent'],
  [['mode=agent'], 'mode agent needs server.url: keyframe cluster create prints it'],
  [[...agent, 'server.instance='], 'mode agent needs server.instance'],
  [[...agent, 'clusterName='], 'mode agent needs clusterName'],
  [[...agent, 'server.url=http://keyframe.example.com'], '/server/url'],
  [[...agent, 'server.url=https://<address of the server>'], '/server/url'],
  [[...agent, 'server.instance=prod'], '/server/instance'],
  [[...agent, 'controller.separate=false'], 'controller.separate is false, and mode agent installs'],
  [[...agent, 'bootstrap.adminEmail=ann@keyframe.test'], 'bootstrap.adminEmail is for the server'],
  [[...agent, 'shutdownDelay=30s'], 'terminationGracePeriodSeconds'],
])('the values %j are refused by a message that names %s', async (settings, field) => {
  expect(await refusalOf(settings.flatMap((setting) => ['--set', setting]))).toContain(field);
});

/** What helm says against these arguments. */
async function refusalOf(more: readonly string[]): Promise<string | undefined> {
  // Not the error's message: that repeats the settings.
  return await renderChart({ namespace, more }).then(
    () => 'accepted',
    (error: unknown) => (error as { stderr?: string }).stderr,
  );
}

describe('mode agent refuses what only a server has:', () => {
  /** Of each value in the chart's list, something that its schema takes; by default a name. */
  const others: Readonly<Record<string, unknown>> = {
    'autoscaling.enabled': true,
    trustedProxies: ['10.0.0.0/8'],
    'trustedIssuers.privateAddresses': true,
    'database.url': 'postgresql://host/db',
    'database.finishUpgrade': '1.0',
    'postgres.backup.enabled': true,
    'recovery.enabled': true,
    publicUrl: 'https://keyframe.example.com',
    'oidc.issuer': 'https://id.example.com',
    'ingress.enabled': true,
    'ingress.extraHosts': [{ host: 'a.test' }],
    'httpRoute.enabled': true,
    'networkPolicy.apiFrom': [{ podSelector: {} }],
  };
  const paths = readFileSync(join(chartFolder, 'files', 'server-values.txt'), 'utf8')
    .trim()
    .split('\n');

  test.each(paths)('%s', async (path) => {
    const set = ['--set-json', `${path}=${JSON.stringify(others[path] ?? 'mine')}`];
    const said = await refusalOf([...agent.flatMap((one) => ['--set', one]), ...set]);
    expect(said).toContain(`${path} is for the server, and mode agent installs the controller alone`);
  });
});

test('one Secret may have the addresses of both roles, in two keys', async () => {
  const one = ['postgres.enabled=false', 'database.existingSecret=same', 'database.migration.existingSecret=same'];
  const more = [...one, 'database.migration.key=owner'].flatMap((setting) => ['--set', setting]);
  expect(await renderChart({ namespace, more })).toContain('/etc/keyframe/database-owner/owner');
});

test('the upgrade to an earlier release may have been finished, which changes nothing', async () => {
  const finished = ['--set', 'database.finishUpgrade=0.0'];
  expect(await renderChart({ namespace, more: finished })).toBe(await renderChart({ namespace, more: [] }));
});

test('the address of the administrator is the reader’s to choose: its default is refused, but not by an upgrade', async () => {
  const place = ['keyframe', chartFolder, '--namespace', namespace, '--set', 'image.repository=registry.test/kf'];
  const refused = await runHelm(['template', ...place]).catch((error: { stderr?: string }) => error.stderr);
  expect(refused).toContain('bootstrap.adminEmail is still the placeholder admin@example.com');
  expect(refused).toContain('--set bootstrap.adminEmail=');
  // A release that was installed with the placeholder has its administrator.
  expect(await runHelm(['template', ...place, '--is-upgrade'])).toContain('admin@example.com');
  expect(await runHelm(['template', ...place, '--set', 'bootstrap.adminEmail=ann@notexample.com'])).toContain('ann@');
});

describe('the image', () => {
  const address = ['--set', 'bootstrap.adminEmail=ann@keyframe.test'];

  /** What helm says against a chart with these values and settings; fails if it accepts them. */
  async function refusal(chart: string, ...settings: readonly string[]): Promise<string> {
    const args = ['template', 'keyframe', chart, '--namespace', namespace, ...address, ...settings];
    const said = await runHelm(args).then(
      () => 'accepted',
      (error: unknown) => (error as { stderr?: string }).stderr ?? '',
    );
    expect(said).not.toBe('accepted');
    return said;
  }

  test.each([[[]], [['--is-upgrade']], [['--set', 'image.repository=']], [['--set', 'image.repository=null']]])(
    'has no default: with the settings %j the chart says which value names it',
    async (settings) => {
      const said = await refusal(chartFolder, ...settings);
      expect(said).toContain('image.repository is empty');
      expect(said).toContain('--set image.repository=registry.example.com/keyframe');
    },
  );
});
