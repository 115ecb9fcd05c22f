import { Plaintext } from '../../../src/domain/plaintext.ts';
import type { ClusterMethodName, RequestOf, ResultOf } from '../../../src/wire/cluster/methods.ts';

/** For each method, requests and results with each optional member present, and with each absent. */

export type Samples = {
  readonly [Name in ClusterMethodName]: {
    readonly requests: readonly RequestOf<Name>[];
    readonly results: readonly ResultOf<Name>[];
  };
};

export const [a, b, c] = [
  '00000000-0000-4000-8000-00000000000a',
  '00000000-0000-4000-8000-00000000000b',
  '00000000-0000-4000-8000-00000000000c',
];
export const at = new Date('2026-11-29T10:00:00.123Z');
export const slugs = { organization: 'acme', project: 'web', environment: 'prod' };
export const named = { namespace: 'team-a', name: 'app.v1', uid: a, requestId: b };
export const rule = {
  organization: 'acme',
  project: '*',
  environments: ['dev', 'prod'],
  permission: 'read_write',
  kinds: ['ServiceToken', 'SecretSync'],
} as const;
const owner = { kind: 'ServiceToken', ...named, grants: [], ownGrant: undefined } as const;
const asker = { ...owner, grants: [rule], ownGrant: 'own' } as const;
const bare = { ...owner, grants: [] } as const;
const environment = { ...owner, kind: 'SecretEnvironment', namespace: null } as const;
const place = { ...slugs, permission: 'read' } as const;
const whole = { organization: 'acme', project: null, environment: null, permission: 'read_write' } as const;
const places = [
  { asker, place },
  { asker: bare, place: whole },
];
export const token = new Plaintext('kf_svc_é');
const ids = { organizationId: a, projectId: b, environmentId: null };
const keys = { count: 2, keys: ['A'] };
const lists = { restored: keys, recreated: keys, unchanged: keys, skipped: keys, destroyed: keys, pruned: keys };
const restored = {
  ...lists,
  snapshotId: a,
  environmentId: b,
  environment: 'acme/web/prod',
  revision: 4,
  revisionId: c,
};
const snapshot = {
  ...slugs,
  id: a,
  environmentId: b,
  createdAt: at,
  secretCount: 1,
  revision: 0,
  revisionId: null,
  digest: 'd'.repeat(64),
  adopted: false,
  environmentDeleted: true,
};
const options = { prune: true, skipUnchanged: false, includeDeleted: true, backup: false };
const source = { snapshotId: a, secretSnapshotUid: null };
const child = { dueAt: at, uid: a, name: 'own-1' };
export const revision = { revision: 1, revisionId: b };
const owned = [{ asker: owner }, { asker: environment }];
export const none: undefined[] = [undefined];
/** Of the methods of custom resources. */
export const resourceSamples = {
  'resources/service-tokens/find': {
    requests: owned,
    results: [
      undefined,
      'gone',
      {
        ...ids,
        tokenId: a,
        permission: 'read',
        suspendedAt: at,
        revokedAt: null,
        credentials: [
          {
            serial: 1,
            audience: null,
            state: 'pending',
            createdAt: at,
            expiresAt: at,
            revokedAt: at,
            firstUsedAt: at,
            lastUsedAt: at,
          },
          {
            serial: 2,
            audience: 'keyframe/x',
            state: 'active',
            createdAt: at,
            expiresAt: null,
            revokedAt: null,
            firstUsedAt: null,
            lastUsedAt: null,
          },
        ],
      },
    ],
  },
  'resources/service-tokens/serial-of': { requests: [{ asker: owner, token }], results: [undefined, 3] },
  'resources/service-tokens/place-of': {
    requests: places,
    results: [{ ...ids, clusterRules: { organizationId: a, version: 2 } }],
  },
  'resources/service-tokens/may-mint': { requests: places, results: none },
  'resources/service-tokens/mint': {
    requests: [
      { asker, place, input: { name: 'n', expiresAt: at, serial: 1 } },
      { asker, place, input: { name: 'n', expiresAt: null, serial: 1 } },
    ],
    results: [{ tokenId: a, serial: 1, token }],
  },
  'resources/service-tokens/federate': {
    requests: [{ asker, place, input: { name: 'n', expiresAt: null, serial: 1, serviceAccountNames: ['ci'] } }],
    results: none,
  },
  'resources/service-tokens/activate': { requests: [{ asker: owner, serial: 1, token }], results: none },
  'resources/service-tokens/revoke-serial': { requests: [{ asker: owner, serial: 1 }], results: none },
  'resources/service-tokens/revoke': { requests: owned, results: none },
  'resources/service-tokens/suspend': { requests: [{ asker: owner, cause: 'grant_gone' }], results: [true, false] },
  'resources/service-tokens/resume': { requests: places, results: none },
  'resources/service-tokens/update': {
    requests: [
      { asker, place, expiries: [{ serial: 1, expiresAt: at }] },
      { asker, place, expiries: [{ serial: 1, expiresAt: null }] },
    ],
    results: none,
  },
  'resources/service-tokens/live': {
    requests: [
      { namespaces: ['team-a'], after: a },
      { namespaces: null, after: null },
    ],
    results: [
      { tokens: [{ ...slugs, uid: a, namespace: 'team-a', name: 'own', permission: 'read' }], next: a },
      {
        tokens: [
          {
            organization: 'acme',
            project: null,
            environment: null,
            uid: a,
            namespace: 'n',
            name: 'own',
            permission: 'read',
          },
        ],
        next: null,
      },
    ],
  },

  'resources/snapshots/find': { requests: owned, results: [undefined, 'gone', snapshot] },
  'resources/snapshots/take': {
    requests: [
      { asker, slugs, input: { name: 'n', description: 'd' } },
      { asker, slugs, input: {} },
    ],
    results: ['gone', { ...snapshot, revision: 1, revisionId: c }],
  },
  'resources/snapshots/adopt': {
    requests: [{ asker, snapshotId: 'as the user wrote it' }],
    results: ['gone', snapshot],
  },
  'resources/snapshots/delete': { requests: owned, results: none },

  'resources/restores/find': {
    requests: owned,
    results: [
      undefined,
      { ...restored, planHash: 'h', from: revision, backupSnapshotId: a, startedAt: at, completedAt: at },
      { ...restored, planHash: null, from: revision, backupSnapshotId: null, startedAt: at, completedAt: at },
    ],
  },
  'resources/restores/admit': {
    requests: [
      { asker, source },
      { asker, source: { ...source, secretSnapshotUid: b } },
    ],
    results: [{ ...slugs, environmentId: a }],
  },
  'resources/restores/plan': {
    requests: [
      {
        asker,
        source,
        options: { ...options, keys: { include: ['A*'], exclude: [] } },
        hashes: { known: 'k', approved: 'a' },
      },
      { asker, source, options, hashes: { known: undefined, approved: undefined } },
      { asker, source, options: { ...options, keys: {} }, hashes: { known: undefined, approved: undefined } },
    ],
    results: [{ ...restored, planHash: 'h' }],
  },
  'resources/restores/restore': {
    requests: [
      { asker, source, options, planHash: 'h' },
      { asker, source, options, planHash: null },
    ],
    results: [{ ...restored, planHash: 'h', from: revision, backupSnapshotId: null, startedAt: at, completedAt: at }],
  },

  'resources/schedules/list': {
    requests: owned,
    results: [
      [],
      [
        { ...child, snapshotId: a, takenAt: at, isNewest: true },
        { ...child, snapshotId: null, takenAt: null, isNewest: false },
      ],
    ],
  },
  'resources/schedules/admit': { requests: [{ asker, slugs }], results: [{ ...slugs, environmentId: a }] },
  'resources/schedules/record': {
    requests: [{ asker, slugs, runs: { made: [child], gone: [a] } }],
    results: none,
  },
  'resources/schedules/extend': { requests: [{ asker, slugs, child }], results: none },

  'resources/environments/ensure': {
    requests: [
      { asker: environment, input: { ...slugs, displayName: 'Shop', namers: [a] } },
      { asker: environment, input: slugs },
    ],
    results: [
      { environmentId: a, revision: 0, revisionId: b, secretCount: 0, created: true, hasOwner: false, namer: a },
      {
        environmentId: a,
        revision: 0,
        revisionId: b,
        secretCount: 0,
        created: false,
        hasOwner: true,
        namer: undefined,
      },
    ],
  },
  'resources/environments/appoint-owners': {
    requests: [{ asker: environment, input: { organization: 'acme', owners: ['a@example.test'] } }],
    results: none,
  },
  'resources/environments/find': { requests: owned, results: [undefined, 'gone', { environmentId: a }] },
  'resources/environments/delete': { requests: [{ asker: environment, slugs }], results: none },
  'resources/environments/hand-over': {
    requests: [{ asker: environment, input: { ...slugs, successor: { name: 'next', uid: b } } }],
    results: none,
  },
} satisfies Pick<Samples, Extract<ClusterMethodName, `resources/${string}`>>;
