import { beforeEach, describe, expect, test } from '@jest/globals';
import { type SecretClaim, holderAmong, ownerOf } from '../../../src/controller/kinds/secret-claims/claim.ts';
import { SecretClaims } from '../../../src/controller/kinds/secret-claims/claims.ts';
import { type ControllerEvent, Seen } from '../../../src/controller/frame/dependencies.ts';
import type { ObjectMeta } from '../../../src/kube/client/objects.ts';
import { claim } from './claims.ts';

const at = (second: number): string => `2026-01-01T00:00:0${second}Z`;
const older = claim({ name: 'older', createdAt: at(1) });
const younger = claim({ name: 'younger', createdAt: at(2) });
const token = claim({ kind: 'ServiceToken', name: 'token', createdAt: at(1) });

describe('the holder of a Secret', () => {
  test.each<[sentence: string, claims: readonly SecretClaim[], holder: string | undefined]>([
    ['is none without a claim', [], undefined],
    ['is the oldest if none held it', [younger, older], 'older'],
    ['is the only one that held it', [older, { ...younger, heldAt: at(3) }], 'younger'],
    [
      'is the one that held it last',
      [
        { ...older, heldAt: at(3) },
        { ...younger, heldAt: at(4) },
      ],
      'younger',
    ],
    [
      'is the oldest of those that held it in the same second',
      [
        { ...younger, heldAt: at(3) },
        { ...older, heldAt: at(3) },
      ],
      'older',
    ],
    ['is found by kind and name among those of the same second', [token, older, { ...older, name: 'again' }], 'again'],
    ['is no merge that never held keys', [{ ...older, isMerge: true }, younger], 'younger'],
    ['is no merge even without others', [{ ...older, isMerge: true }], undefined],
    ['is a merge that held keys last', [{ ...older, isMerge: true, heldAt: at(4) }, younger], 'older'],
    [
      'is no merge that held keys before',
      [
        { ...older, isMerge: true, heldAt: at(3) },
        { ...younger, heldAt: at(4) },
      ],
      'younger',
    ],
  ])('%s', (_, claims, holder) => {
    expect(holderAmong(claims)?.name).toBe(holder);
    expect(holderAmong(claims.toReversed())?.name).toBe(holder);
  });
});

describe('the owner of a Secret', () => {
  const secret = (more: Partial<ObjectMeta>): ObjectMeta => ({ name: 'x', uid: 'u', resourceVersion: '1', ...more });

  test.each<[sentence: string, secret: Partial<ObjectMeta>, owner: ReturnType<typeof ownerOf>]>([
    ['is none without an annotation', { labels: { 'keyframe.dev/target': 'true' } }, undefined],
    ['is a SecretSync', { annotations: { 'keyframe.dev/owned-by': 'a' } }, { kind: 'SecretSync', name: 'a' }],
    ['is a ServiceToken', { annotations: { 'keyframe.dev/owned-by-token': 'a' } }, { kind: 'ServiceToken', name: 'a' }],
    [
      'is a SecretSync if both annotations are set',
      { annotations: { 'keyframe.dev/owned-by-token': 'a', 'keyframe.dev/owned-by': 'b' } },
      { kind: 'SecretSync', name: 'b' },
    ],
    [
      'is an unknown ServiceToken by the label alone',
      { labels: { 'keyframe.dev/token': 'true' } },
      { kind: 'ServiceToken', name: undefined },
    ],
    [
      'has no name if the annotation is none',
      { annotations: { 'keyframe.dev/owned-by': 'a `rm`' } },
      { kind: 'SecretSync', name: undefined },
    ],
  ])('%s', (_, metadata, owner) => expect(ownerOf(secret(metadata))).toEqual(owner));
});

describe('the claims on a Secret', () => {
  const events: ControllerEvent[] = [];
  let claims: SecretClaims;
  beforeEach(() => {
    events.length = 0;
    claims = new SecretClaims({ publish: (event) => void events.push(event) });
  });
  const take = (): ControllerEvent[] => events.splice(0);
  /** The version of the holder, as a result notes it. */
  const holderSeen = (secret: string): string | undefined => {
    const seen = new Seen();
    claims.rivalOf(secret, younger, seen);
    return [...seen.dependencies.values()][0]?.saw;
  };

  test('cause no event while a Secret has one claimant', () => {
    claims.note('ns/x', older);
    claims.note('ns/x', { ...older, heldAt: at(3) });
    claims.note('ns/y', younger);
    claims.drop('ns/y', younger);
    expect(take()).toEqual([]);
  });

  test('cause an event when a claim changes, which is stale only for who depends on it', () => {
    claims.note('ns/x', older);
    claims.note('ns/x', younger);
    expect(take()).toEqual([
      { kind: 'Secret claim', id: 'ns/x SecretSync younger', version: expect.any(String) },
      { kind: 'Secret holder', id: 'ns/x', version: holderSeen('ns/x') },
    ]);
    claims.note('ns/x', younger);
    expect(take()).toEqual([]);
    claims.note('ns/x', { ...older, heldAt: at(5) });
    expect(take()[1]).toEqual({ kind: 'Secret holder', id: 'ns/x', version: holderSeen('ns/x') });
    const before = holderSeen('ns/x');
    claims.drop('ns/x', older);
    expect(take()[1]).toEqual({ kind: 'Secret holder', id: 'ns/x', version: holderSeen('ns/x') });
    expect(holderSeen('ns/x')).not.toBe(before);
  });

  test('follow what a reconcile found until the status reports it', () => {
    const rival = (): string | undefined => claims.rivalOf('ns/z', claim(), new Seen())?.name;
    claims.note('ns/z', older);
    claims.note('ns/z', younger);
    claims.found('ns/z', younger, at(4));
    claims.note('ns/z', younger);
    expect(rival()).toBe('younger');
    claims.note('ns/z', { ...younger, heldAt: at(4) });
    claims.found('ns/z', younger, undefined);
    expect(rival()).toBe('older');
    claims.forgetFound();
    expect(rival()).toBe('younger');
  });

  test('name no owner that merges, is unknown or is gone', () => {
    const owner = (name: string | undefined): string | undefined =>
      claims.ownerClaim('ns/o', { kind: 'SecretSync', name }, new Seen())?.name;
    claims.note('ns/o', older);
    claims.note('ns/o', { ...younger, isMerge: true });
    expect([owner('older'), owner('younger'), owner('other'), owner(undefined)]).toEqual([
      'older',
      undefined,
      undefined,
      undefined,
    ]);
    expect(claims.ownerClaim('ns/o', { kind: 'ServiceToken', name: 'older' }, new Seen())).toBeUndefined();
  });
});
