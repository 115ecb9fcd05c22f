import { describe, expect, test } from '@jest/globals';
import type { SecretSync } from '../../../src/controller/generated/secret-sync.ts';
import type { ServiceToken } from '../../../src/controller/generated/service-token.ts';
import {
  judgeToken,
  needlessTokens,
  ownedTokenKeyOf,
  possibleOwnerOf,
} from '../../../src/controller/kinds/secret-sync/tokens/service-token.ts';
import { type Source, sourcesOf } from '../../../src/controller/kinds/secret-sync/spec/source.ts';
import { DomainError } from '../../../src/domain/domain-error.ts';
import { secretSync } from './builders.ts';
import { type SpecSource, environmentRef } from './source-harness.ts';

const source = (name: string, more: Partial<SpecSource> = {}): SpecSource => ({
  name,
  environmentRef: environmentRef(name),
  ...more,
});
const syncOf = (...sources: SpecSource[]): SecretSync => secretSync({ target: { name: 'written' }, spec: { sources } });

/** A ServiceToken ns/<name> that ns/app has made, for the environment acme/web/<environment>. */
function made(name: string, environment: string): ServiceToken {
  const owner = {
    apiVersion: 'keyframe.dev/v1alpha1',
    kind: 'SecretSync',
    name: 'app',
    uid: 'uid-app',
    controller: true,
  };
  return {
    apiVersion: 'keyframe.dev/v1alpha1',
    kind: 'ServiceToken',
    metadata: { name, namespace: 'ns', uid: name, resourceVersion: '7', generation: 1, ownerReferences: [owner] },
    spec: {
      scope: 'Environment',
      organization: 'acme',
      project: 'web',
      environment,
      permission: 'Read',
      suspend: false,
    },
  };
}

describe('the ServiceToken of a source', () => {
  const known: readonly [sync: string, source: string | undefined, token: string][] = [
    ['app', undefined, 'app-token'],
    ['app', 'own', 'app-token-own'],
    ['app-token', undefined, 'app-token-token'],
    ['app-token', 'own', 'app-token-token-own'],
    ['app-token-own', undefined, 'app-token-own-token'],
    ['app-token-own', 'tokens', 'app-token-own-token-tokens'],
    ['a.b', 'x-y', 'a.b-token-x-y'],
  ];

  test.each(known)('of the SecretSync %s and the source %s is found to be theirs by its name', (name, of, token) => {
    const sync = secretSync({ name });
    expect(ownedTokenKeyOf(sync, { name: of })).toBe(`ns/${token}`);
    expect(possibleOwnerOf(`ns/${token}`)).toBe(`ns/${name}`);
  });

  test('is nobody’s where the name tells none', () => {
    expect(['ns/ci', 'ns/tokens', 'ns/app-tokens-own'].map(possibleOwnerOf)).toEqual([undefined, undefined, undefined]);
  });

  test('is made, corrected and left to go as that of one environment is', () => {
    const sync = syncOf(source('own'));
    const [own] = sourcesOf(sync);
    const judged = (beside: ServiceToken | undefined): [string | undefined, string] => {
      const { step, place } = judgeToken({ sync, source: own as Source, named: undefined, beside });
      return [step?.do, place instanceof DomainError ? place.code : place.name];
    };
    expect(judged(undefined)).toEqual(['create', 'service_token_not_ready']);
    expect(judged(made('app-token-own', 'own'))).toEqual([undefined, 'app-token-own']);
    const wide = made('app-token-own', 'own');
    expect(judged({ ...wide, spec: { ...wide.spec, permission: 'ReadWrite' } })).toEqual(['correct', 'app-token-own']);
    expect(judged(made('app-token-own', 'another'))).toEqual(['delete', 'service_token_not_ready']);
  });

  const all = [made('app-token', 'own'), made('app-token-own', 'own'), made('app-token-shared', 'shared')];
  const needless: readonly [what: string, sync: SecretSync, names: string[]][] = [
    ['the source was taken out', syncOf(source('own')), ['app-token', 'app-token-shared']],
    ['the source was renamed', syncOf(source('own'), source('common')), ['app-token', 'app-token-shared']],
    [
      'the source names a token',
      syncOf(source('own'), source('shared', { tokenRef: { name: 'ci' } })),
      ['app-token', 'app-token-shared'],
    ],
    [
      'the source names a Secret',
      syncOf(source('own', { tokenSecretRef: { name: 'mine', key: 'token' } }), source('shared')),
      ['app-token', 'app-token-own'],
    ],
    [
      'there are no sources any more',
      secretSync({ spec: { environmentRef: environmentRef('own') } }),
      ['app-token', 'app-token-own', 'app-token-shared'],
    ],
  ];

  test.each(needless)('is needless where %s', (_, sync, names) => {
    expect(needlessTokens(sync, all).map(({ metadata }) => metadata.name)).toEqual(names);
  });

  test('stays where another source names it', () => {
    const sync = syncOf(source('other', { tokenRef: { name: 'app-token-own' } }), source('shared'));
    expect(needlessTokens(sync, all).map(({ metadata }) => metadata.name)).toEqual(['app-token']);
  });
});
