import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { methodsWithoutHandle } from './service-rules.ts';
import { readSources } from './source-rules.ts';

const sources = new Map(
  readSources()
    .filter(({ path }) => path.startsWith('src/services/'))
    .map(({ path, source }) => [path, source]),
);

const findsCaller = 'finds out who calls, before there is a caller';
const makesHandles = 'makes the handles';
const admits = 'admits a custom resource of a cluster, and passes the handle on';
const isPart = 'is a part of services; no route and no kind of custom resource has it';
const ofController = 'is for what the controller itself saw or does';
const returnsNothing = 'takes a record of what happened and returns nothing of a tenant';
const beginsSignIn = 'begins a session or a login: its caller has only a secret of that flow';
const ofCaller = 'shows callers what is their own';

/** Classes and methods that take no handle, each with the reason. */
const withoutHandle: Readonly<Record<string, string>> = {
  Access: makesHandles,
  KeylessAccess: makesHandles,
  ResourceAccess: makesHandles,
  ClusterTokens: admits,
  ClusterSnapshots: admits,
  ClusterRestores: admits,
  ClusterSchedules: admits,
  ClusterEnvironments: admits,
  ClusterSources: admits,
  ClusterChanges: 'reports ids of organizations that allow the cluster something',
  ClusterPorts: admits,
  ClusterFilter: isPart,
  Known: isPart,
  Authentication: findsCaller,
  ClusterAuthentication: findsCaller,
  FederatedTokens: findsCaller,
  IssuerKeys: isPart,
  AuditLog: returnsNothing,
  CredentialUsage: returnsNothing,
  RefusedClusters: isPart,
  ReportedDenials: isPart,
  Ensuring: isPart,
  EnvironmentQueue: isPart,
  GroupedLookup: isPart,
  GrowthBudget: isPart,
  ReadSizes: isPart,
  StateCache: isPart,
  NewSecretIds: isPart,
  CopySealer: isPart,
  FlowSecret: isPart,
  TokenFile: isPart,
  ChangeFeed: 'reports commits by ids and revisions, to the controller and to streams that took a handle',
  ChangeStream: 'is returned by ChangeStreams.start, which takes a handle',
  ClusterStream: 'is returned by ClusterStreams.start',
  'ClusterStreams.start': 'takes a cluster that was authenticated',
  'ClusterStreams.open': 'counts streams',
  'ClusterStreams.drain': 'asks for other streams',
  'ClusterStreams.close': 'ends streams',
  'ChangeStreams.open': 'counts streams',
  'ChangeStreams.close': 'ends streams',
  ClusterRegistry: ofController,
  SyncStates: ofController,
  'ResourceTokens.live': ofController,
  'WaitingRestores.report': ofController,
  'WaitingRestores.forget': ofController,
  'WaitingRestores.reported': ofController,
  OidcSignIn: beginsSignIn,
  PasskeySignIn: beginsSignIn,
  SignInLinks: beginsSignIn,
  'SignIn.offer': beginsSignIn,
  'CommandLogins.beginDevice': beginsSignIn,
  'CommandLogins.createToken': beginsSignIn,
  'Me.get': ofCaller,
  'Organizations.list': ofCaller,
};

const isListed = (method: string): boolean => method in withoutHandle || (method.split('.')[0] ?? '') in withoutHandle;

describe('each public method of a service', () => {
  const found = methodsWithoutHandle(sources);

  test('takes a handle for its action, or is on the list', () => {
    expect(sources.size).toBeGreaterThan(80);
    expect(found.filter((method) => !isListed(method))).toEqual([]);
  });

  test('is on the list only while it takes none', () => {
    const unused = Object.keys(withoutHandle).filter(
      (entry) => !found.some((method) => method === entry || method.startsWith(`${entry}.`)),
    );
    expect(unused).toEqual([]);
  });

  test('is on the list by itself if routes or clusters have its service', () => {
    // The port is these services together.
    const ofClusters = [...sources].flatMap(([path, text]) =>
      path.startsWith('src/services/cluster/') && !path.endsWith('/cluster-port.ts') ? [text] : [],
    );
    const texts = [readFileSync(join(checkoutDirectory, 'src/http/http-services.ts'), 'utf8'), ...ofClusters];
    const services = texts.flatMap((text) =>
      Array.from(text.matchAll(/^ {2}readonly \w+: (\w+);$/gm), ([, name]) => name),
    );
    expect(services.length).toBeGreaterThan(30);
    expect(services.filter((name = '') => name in withoutHandle)).toEqual(['Access', 'SignInLinks', 'ResourceAccess']);
  });
});

describe('a planted method is found:', () => {
  const access = "import type { EnvironmentAccess, ReadingAccess } from '../access/access.ts';";
  const planted = (method: string, types = ''): readonly string[] => {
    const source = `${access}\n${types}\nclass Planted {\n  ${method}\n}\nexport { Planted };`;
    return methodsWithoutHandle(new Map([...sources, ['src/services/planted/a.ts', source]])).filter((name) =>
      name.startsWith('Planted.'),
    );
  };

  test.each([
    ['without a parameter', 'async read() {}', ''],
    ['by slugs', 'async read(slugs: EnvironmentSlugs) {}', ''],
    ['by a caller', 'async read(caller: Caller) {}', ''],
    ['by a handle in the second place', "async read(key: string, access: EnvironmentAccess<'secret.read'>) {}", ''],
    ['by a handle that may be absent', "async read(access?: EnvironmentAccess<'secret.read'>) {}", ''],
    ['by a handle or something else', "async read(access: EnvironmentAccess<'secret.read'> | Caller) {}", ''],
    ['by a part of a handle', "async read(access: Pick<EnvironmentAccess<'secret.read'>, 'environmentId'>) {}", ''],
    ['by a handle for any action', 'async read(access: EnvironmentAccess) {}', ''],
    ['by an alias for any action', 'async read(access: Any) {}', 'type Any = EnvironmentAccess;'],
    ['by a type of the same name', 'async read(access: Access) {}', 'type Access = { environmentId: string };'],
    [
      'by an object that has more',
      'async read(ends: Ends) {}',
      "interface Ends { a: EnvironmentAccess<'secret.read'>; b: string }",
    ],
    ['as a getter', 'get read() { return 1; }', ''],
    ['as a function in a property', 'readonly read = async (caller: Caller) => caller;', ''],
    ['as a static method', 'static async read(caller: Caller) {}', ''],
  ])('%s', (_case, method, types) => {
    expect(planted(method, types)).toEqual(['Planted.read']);
  });

  test.each([
    ['takes a handle for one action', "async read(access: EnvironmentAccess<'secret.read'>) {}", ''],
    [
      'takes a handle for one of two actions',
      "async read(access: EnvironmentAccess<'secret.read' | 'secret.list'>) {}",
      '',
    ],
    ['takes parts of a whole handle', "async read({ caller }: EnvironmentAccess<'secret.read'>) {}", ''],
    ['takes an imported alias', 'async read(access: ReadingAccess) {}', ''],
    [
      'takes two handles',
      'async read(ends: Ends) {}',
      "interface Ends { a: EnvironmentAccess<'secret.read'>; b: ReadingAccess }",
    ],
    ['is private', 'async #read(caller: Caller) {}', ''],
    ['is private by a word', 'private async read(caller: Caller) {}', ''],
  ])('but not one that %s', (_case, method, types) => {
    expect(planted(method, types)).toEqual([]);
  });
});
