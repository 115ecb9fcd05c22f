import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import {
  a,
  b,
  c,
  at,
  named,
  none,
  revision,
  rule,
  slugs,
  token,
  resourceSamples,
  type Samples,
} from './resource-samples.ts';
import { stateReport } from '../../support/api/state-reports.ts';

const sync = { kind: 'SecretSync', ...named, grants: [rule], ownGrant: 'own' } as const;
const keyless = { name: undefined, slugs, credential: 'keyless' } as const;
const presented = { name: 'main', slugs, credential: { token } } as const;
const admitted = { ...keyless, asker: sync, tokenId: a, environmentId: b };
const found = {
  environmentId: a,
  revision: 3,
  revisionId: b,
  secrets: [{ key: 'KEY', bytes: 5 }],
  destroyed: [{ key: 'OLD', version: 2 }],
  deletedSince: ['GONE'],
};
const report = stateReport({ uid: a });
const page = { resources: [{ uid: a, namespace: 'team-a' }], next: a };
const error = new DomainError('not_found', 'environment acme/web/prod does not exist');

export const samples: Samples = {
  ...resourceSamples,
  hello: {
    requests: [
      {
        uid: a,
        isLeading: true,
        kinds: ['SecretSync'],
        issuer: { iss: 'https://kubernetes.default.svc', keys: [{ kty: 'EC', kid: '1' }] },
        release: '1.0.0',
        protocol: { min: 1, max: 2 },
      },
      { uid: a, isLeading: false, kinds: [], release: '1.0.0', protocol: { min: 1, max: 1 } },
    ],
    results: [
      { state: 'enabled', holder: undefined, isHome: true, now: at, fingerprintKey: 'a2V5' },
      { state: 'disabled', holder: { heldBy: a, seenAt: at }, isHome: false, now: at, fingerprintKey: undefined },
    ],
  },
  compare: {
    requests: [{ environmentIds: [a], credentialIds: [b], serviceTokenIds: [c], keptIds: [a, b], rulesOf: [c] }, {}],
    results: [
      {
        environments: new Map([[a, b]]),
        liveCredentials: new Set([a]),
        liveTokens: new Set([b]),
        kept: new Set([c]),
        clusterState: 'enabled',
        clusterRules: new Map([[a, 3]]),
      },
      {
        environments: new Map(),
        liveCredentials: new Set(),
        liveTokens: new Set(),
        kept: new Set(),
        clusterState: 'forgotten',
        clusterRules: new Map(),
      },
    ],
  },
  reads: {
    requests: [
      {
        namespaces: [{ namespace: 'team-a', grants: [rule], ownGrant: 'own' }],
        items: [
          {
            asker: named,
            sources: [
              { ...keyless, state: 'newest', recordedId: a },
              { ...presented, state: { revision: 1, deletedSince: true }, recordedId: undefined },
              { ...presented, credential: { token: undefined }, state: { revision: b }, recordedId: undefined },
            ],
            maxKeys: 10_000,
          },
        ],
      },
      {
        namespaces: [{ namespace: 'team-a', grants: [] }],
        items: [{ asker: named, sources: [{ ...keyless, state: 'later', recordedId: undefined }], maxKeys: 0 }],
      },
    ],
    results: [
      {
        items: [
          { outcome: 'again' },
          { outcome: 'failed', error },
          {
            outcome: 'read',
            answer: {
              sources: [
                {
                  token: { id: a, credentialId: b, expiresAt: at },
                  environmentId: b,
                  head: { revision: 3, revisionId: c },
                  clusterRules: { organizationId: a, version: 0 },
                  state: found,
                },
                {
                  token: { id: a, credentialId: null, expiresAt: null },
                  environmentId: undefined,
                  head: undefined,
                  clusterRules: undefined,
                  state: { keys: 20_000 },
                },
                {
                  token: undefined,
                  environmentId: undefined,
                  head: undefined,
                  clusterRules: undefined,
                  state: undefined,
                },
              ],
              isReplaced: false,
              refusal: { source: 1, step: 'token', error, fault: 'revoked', tokenId: a, environmentId: b },
            },
          },
          {
            outcome: 'read',
            answer: {
              sources: [],
              isReplaced: true,
              refusal: {
                source: 0,
                step: 'state',
                error,
                fault: undefined,
                tokenId: undefined,
                environmentId: undefined,
              },
            },
          },
          { outcome: 'read', answer: { sources: [], isReplaced: true, refusal: undefined } },
        ],
      },
    ],
  },
  states: {
    requests: [
      { source: admitted, state: { revision: b, deletedSince: false }, maxKeys: 5 },
      {
        source: { ...admitted, ...presented, asker: { ...sync, grants: [], ownGrant: undefined } },
        state: { revision: 2 },
        maxKeys: 5,
      },
    ],
    results: [found, { keys: 7 }],
  },
  values: {
    requests: [
      { source: admitted, state: { environmentId: a, revision: 3, revisionId: b, keyCount: 2 }, keys: ['KEY'] },
      { source: admitted, state: { environmentId: a, revision: 3, revisionId: b, keyCount: 2 }, keys: [] },
    ],
    results: [new Map([['KEY', new Plaintext('\u0000value "é"')]]), new Map()],
  },

  'sync-states/report': {
    requests: [
      {
        reports: [
          report,
          {
            ...report,
            environmentId: a,
            wanted: revision,
            synced: revision,
            syncedAt: at,
            rollout: {
              state: 'converged',
              reason: 'Converged',
              converged: revision,
              workloads: [
                { kind: 'Deployment', name: 'web', revision: 1, replicas: 2, updatedReplicas: 2 },
                { kind: 'Deployment', name: 'web' },
              ],
            },
          },
          { ...report, rollout: { state: 'stalled', reason: 'Stalled', converged: null, workloads: [] } },
        ],
      },
    ],
    results: [[], [{ uids: [a], code: 'quota_exceeded', detail: 'too many' }]],
  },
  'sync-states/forget': { requests: [{ uids: [a] }], results: none },
  'sync-states/reported': { requests: [{ after: a }, { after: null }], results: [page, { resources: [], next: null }] },
  'sync-states/seen': { requests: [{}], results: none },

  'waiting-restores/forget': { requests: [{ uids: [a] }], results: none },
  'waiting-restores/reported': { requests: [{ after: null }], results: [page] },
};
