import fc from 'fast-check';
import type { EnvironmentRef } from '../support/api/api-client.ts';

/** What an attacker finds to name, and what of it a grant of their namespace covers. */
export interface HostileTargets {
  /** Granted: the ServiceTokens may read it. */
  readonly read: EnvironmentRef;
  /** Granted: the ServiceTokens may write it, and SecretSnapshots may be taken of it, and SnapshotRestores restore it. */
  readonly written: EnvironmentRef;
  /** Not granted; the first one is of the same project as those that are. */
  readonly victims: readonly EnvironmentRef[];
  /** A snapshot of `written`, and others of the victims. */
  readonly ownSnapshot: string;
  readonly victimSnapshots: readonly string[];
  /** A Secret with a token that may read `read`. */
  readonly tokenSecret: string;
  /** Secrets of the namespace that other resources own, or none. */
  readonly takenNames: readonly string[];
  /** Names that belong to another namespace. */
  readonly victimNames: readonly string[];
  readonly victimNamespace: string;
}

export type HostileKind =
  'ServiceToken' | 'SecretSnapshot' | 'SnapshotRestore' | 'SecretSync' | 'AccessGrant' | 'SecretEnvironment';

export interface HostileResource {
  readonly kind: HostileKind;
  readonly metadata: object;
  readonly spec: Readonly<Record<string, unknown>>;
  /** What it is created with, and patched to afterwards, as its status. */
  readonly status: object | undefined;
  /** What it may have, by the grants as the test made them: nothing here asks the program. */
  readonly isAllowed: boolean;
  /** Of a ServiceToken that is allowed: the one environment that its token opens. */
  readonly opens: EnvironmentRef | undefined;
}

/** Resources as someone makes them who wants more than their namespace is granted; the same for the same seed. */
export function hostileResources(
  targets: HostileTargets,
  { seed, count }: { seed: number; count: number },
): HostileResource[] {
  return [...fc.sample(hostile(targets), { seed, numRuns: count }), ...plain(targets)];
}

/** Those that nothing but the missing grant refuses: with them, every run shows what the audit has of a refusal. */
function plain({ victims: [victim] }: HostileTargets): HostileResource[] {
  if (victim === undefined) throw new Error('there is no victim');
  const common = { metadata: {}, status: undefined, isAllowed: false, opens: undefined };
  const token = { scope: 'Environment', environmentRef: victim, permission: 'Read' };
  return [
    { ...common, kind: 'ServiceToken', spec: token },
    { ...common, kind: 'SecretSync', spec: { environmentRef: victim, target: { type: 'Opaque' } } },
  ];
}

function hostile(targets: HostileTargets): fc.Arbitrary<HostileResource> {
  const judged = fc.oneof(
    { weight: 8, arbitrary: tokens(targets) },
    { weight: 6, arbitrary: snapshots(targets) },
    { weight: 3, arbitrary: restores(targets) },
    { weight: 8, arbitrary: syncs(targets) },
    { weight: 1, arbitrary: grants(targets) },
    { weight: 1, arbitrary: environments(targets) },
  );
  return fc
    .tuple(judged, metadata(targets), statuses(targets))
    .map(([each, meta, status]) => ({ opens: undefined, ...each, metadata: meta, status }));
}

type Judged = Pick<HostileResource, 'kind' | 'spec' | 'isAllowed'> & Partial<Pick<HostileResource, 'opens'>>;

const sameRef = (one: EnvironmentRef, other: Partial<EnvironmentRef>): boolean =>
  one.organization === other.organization && one.project === other.project && one.name === other.name;

/** Real places, wildcards, and what is no slug; with fields that no reference has. */
function places({ read, written, victims, victimNamespace }: HostileTargets): fc.Arbitrary<EnvironmentRef> {
  const real = fc.constantFrom(read, written, ...victims);
  const slug = (field: keyof EnvironmentRef): fc.Arbitrary<string> =>
    fc.oneof(
      real.map((ref) => ref[field]),
      fc.constantFrom('*', '', '..', `${read[field]}/../${victims[0]?.[field]}`, 'no-such'),
    );
  const mixed = fc.record({ organization: slug('organization'), project: slug('project'), name: slug('name') });
  const strange = real.map((ref) => ({ ...ref, namespace: victimNamespace }));
  return fc.oneof({ weight: 5, arbitrary: real }, { weight: 1, arbitrary: mixed }, { weight: 1, arbitrary: strange });
}

function tokens(targets: HostileTargets): fc.Arbitrary<Judged> {
  const { read, written, takenNames, victimNames } = targets;
  const scope = fc.oneof(
    { weight: 4, arbitrary: fc.constant('Environment') },
    { weight: 1, arbitrary: fc.constantFrom('Project', 'Organization', '*') },
  );
  const secretName = fc.option(
    fc.constantFrom(...takenNames, ...victimNames.map((name) => `${targets.victimNamespace}/${name}`)),
    {
      freq: 3,
      nil: undefined,
    },
  );
  const permission = fc.constantFrom('Read', 'ReadWrite');
  return fc.tuple(scope, places(targets), permission, secretName).map(([wanted, ref, may, name]) => {
    const { organization, project } = ref;
    const ofScope: Readonly<Record<string, object>> = {
      Organization: { organization },
      Project: { projectRef: { organization, name: project } },
    };
    const spec = {
      scope: wanted,
      ...(ofScope[wanted] ?? { environmentRef: ref }),
      permission: may,
      ...(name === undefined ? {} : { secretName: name }),
    };
    const isGranted = sameRef(written, ref) || (sameRef(read, ref) && may === 'Read');
    const isAllowed = wanted === 'Environment' && isGranted && name === undefined;
    return { kind: 'ServiceToken', spec, isAllowed, opens: isAllowed ? ref : undefined };
  });
}

function snapshots(targets: HostileTargets): fc.Arbitrary<Judged> {
  const { ownSnapshot, written } = targets;
  const policy = fc.constantFrom(undefined, 'Retain', 'Delete');
  const kind = 'SecretSnapshot';
  const taken = fc.tuple(places(targets), policy).map(
    ([environmentRef, deletionPolicy]) =>
      ({
        kind,
        spec: { source: { environmentRef }, ...(deletionPolicy === undefined ? {} : { deletionPolicy }) },
        isAllowed: sameRef(written, environmentRef),
      }) as const,
  );
  const adopted = fc.tuple(snapshotIds(targets), policy).map(
    ([snapshotId, deletionPolicy]) =>
      ({
        kind,
        spec: { source: { snapshotId }, ...(deletionPolicy === undefined ? {} : { deletionPolicy }) },
        isAllowed: snapshotId === ownSnapshot && deletionPolicy !== 'Delete',
      }) as const,
  );
  return fc.oneof(taken, adopted);
}

function snapshotIds({ ownSnapshot, victimSnapshots }: HostileTargets): fc.Arbitrary<string> {
  const known = fc.constantFrom(ownSnapshot, ...victimSnapshots, '*', `${ownSnapshot},${victimSnapshots[0]}`);
  return fc.oneof(known, fc.uuid());
}

// Of no SecretSnapshot.
const unusedUid = '0198a6f0-1234-7abc-8def-0123456789ab';

function restores(targets: HostileTargets): fc.Arbitrary<Judged> {
  const kind = 'SnapshotRestore';
  const unplanned = { mode: 'Apply', allowUnplanned: true, prune: true };
  const applied = [targets.written, ...targets.victims].map((environmentRef) => ({ ...unplanned, environmentRef }));
  const options = fc.constantFrom<{ readonly environmentRef?: EnvironmentRef }>({}, ...applied);
  const byId = fc.tuple(snapshotIds(targets), options).map(
    ([snapshotId, more]) =>
      ({
        kind,
        spec: { snapshotId, ...more },
        isAllowed: snapshotId === targets.ownSnapshot && (more.environmentRef ?? targets.written) === targets.written,
      }) as const,
  );
  const { victimNames, victimNamespace } = targets;
  const name = fc.constantFrom(...victimNames, `${victimNamespace}/${victimNames[0]}`);
  const byName = fc.tuple(name, options).map(
    ([secretSnapshot, more]) =>
      ({
        kind,
        spec: { snapshotRef: { name: secretSnapshot, namespace: victimNamespace, uid: unusedUid }, ...more },
        isAllowed: false,
      }) as const,
  );
  return fc.oneof({ weight: 3, arbitrary: byId }, { weight: 1, arbitrary: byName });
}

const reserved = ['keyframe.dev/target', 'keyframe.dev/token', 'app.kubernetes.io/managed-by', 'deep.keyframe.dev/x'];

function syncs(targets: HostileTargets): fc.Arbitrary<Judged> {
  const { read, takenNames, victimNames, tokenSecret, victimNamespace } = targets;
  const usually = <T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> =>
    fc.oneof({ weight: 6, arbitrary: fc.constant(usual) }, { weight: 2, arbitrary: fc.constantFrom(...others) });
  return fc
    .record({
      ref: fc.oneof({ weight: 1, arbitrary: fc.constant(read) }, { weight: 2, arbitrary: places(targets) }),
      token: fc.oneof(
        {
          weight: 2,
          arbitrary: usually(tokenSecret, ...takenNames, ...victimNames, `${victimNamespace}/${victimNames[0]}`),
        },
        // With the keyless token of the namespace.
        { weight: 1, arbitrary: fc.constant(undefined) },
      ),
      key: usually('token', 'A', '../token'),
      name: usually<string | undefined>(undefined, ...takenNames, `${victimNamespace}/${victimNames[0]}`),
      type: usually(
        'Opaque',
        'kubernetes.io/service-account-token',
        'bootstrap.kubernetes.io/token',
        'helm.sh/release.v1',
      ),
      label: usually<string | undefined>(undefined, ...reserved),
      annotation: usually<string | undefined>(undefined, ...reserved, 'kubernetes.io/service-account.name'),
    })
    .map(({ ref, token, key, name, type, label, annotation }) => {
      const isHarmless = label === undefined && annotation === undefined && type === 'Opaque' && name === undefined;
      const target = {
        type,
        ...(name === undefined ? {} : { name }),
        ...(label === undefined ? {} : { labels: { [label]: 'true' } }),
        ...(annotation === undefined ? {} : { annotations: { [annotation]: 'default' } }),
      };
      const reference = { tokenSecretRef: { name: token, key, namespace: victimNamespace } };
      const spec = { environmentRef: ref, ...(token === undefined ? {} : reference), target };
      const isRead = token === undefined ? isReadable(targets, ref) : isOpened(targets, { ref, token, key });
      return { kind: 'SecretSync', spec, isAllowed: isHarmless && isRead };
    });
}

/** Whether the namespace may read an environment with its keyless token. */
function isReadable({ read, written }: HostileTargets, ref: EnvironmentRef): boolean {
  return sameRef(read, ref) || sameRef(written, ref);
}

/** Whether a Secret of the namespace holds a token that opens an environment. */
function isOpened(
  { read, tokenSecret }: HostileTargets,
  { ref, token, key }: { readonly ref: EnvironmentRef; readonly token: string; readonly key: string },
): boolean {
  return token === tokenSecret && key === 'token' && sameRef(read, ref);
}

/** A grant for oneself, of all there is. */
function grants(targets: HostileTargets): fc.Arbitrary<Judged> {
  return places(targets).map(({ organization }) => {
    const rules = [
      { organization, project: '*', environments: ['*'], permission: 'ReadWrite', kinds: ['ServiceToken'] },
    ];
    return { kind: 'AccessGrant', spec: { namespaces: ['*'], rules }, isAllowed: false };
  });
}

function environments(targets: HostileTargets): fc.Arbitrary<Judged> {
  return places(targets).map((environmentRef) => {
    return { kind: 'SecretEnvironment', spec: { environmentRef, deletionPolicy: 'Delete' }, isAllowed: false };
  });
}

/** Ownership and consent as others have it, by annotations and labels that mean something on other objects. */
function metadata({ takenNames, victimNames, victimNamespace }: HostileTargets): fc.Arbitrary<object> {
  const names = fc.constantFrom(...takenNames, ...victimNames, victimNamespace, '*');
  const annotation = fc.constantFrom(
    'keyframe.dev/owned-by',
    'keyframe.dev/owned-by-token',
    'keyframe.dev/allow-adoption',
    'keyframe.dev/allow-deletion',
    'keyframe.dev/source',
    'keyframe.dev/cluster',
  );
  const label = fc.constantFrom('keyframe.dev/target', 'keyframe.dev/token', 'keyframe.dev/granted');
  return fc.record(
    {
      annotations: fc.dictionary(annotation, names, { maxKeys: 3 }),
      labels: fc.dictionary(label, fc.constant('true'), { maxKeys: 2 }),
    },
    { requiredKeys: [] },
  );
}

/** A status that says that the resource already has what is the victim's. */
function statuses({ victimSnapshots }: HostileTargets): fc.Arbitrary<object | undefined> {
  const [snapshotId] = victimSnapshots;
  const condition = {
    type: 'Ready',
    status: 'True',
    reason: 'Issued',
    message: 'Everything is granted.',
    lastTransitionTime: '2026-01-01T00:00:00Z',
    observedGeneration: 1,
  };
  const claimed = { tokenId: snapshotId, serial: 1, snapshotId, observedGeneration: 1, conditions: [condition] };
  return fc.option(fc.constant(claimed), { freq: 2, nil: undefined });
}
