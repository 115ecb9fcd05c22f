import { expect, test } from '@jest/globals';
import {
  actionFault,
  actorIdOf,
  auditCommand,
  auditFilterOf,
  auditQueryOf,
  isUnknownAction,
} from '../../../src/dashboard/text/audit-filter.ts';
import { targetFields, targetText } from '../../../src/dashboard/text/audit-target.ts';

const id = '5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e';
const none = { action: '', actor: '', actorType: '', since: '' } as const;

test('the filter takes from an address only what it knows', () => {
  const filterOf = (query: string) => auditFilterOf((name) => new URLSearchParams(query).get(name) ?? '');
  expect(filterOf(`action=secret.&actor=${id}&type=resource&since=7d&token=x`)).toEqual({
    action: 'secret.',
    actor: id,
    actorType: 'resource',
    since: '7d',
  });
  expect(filterOf('action=Secret!&actor=ann&type=robot&since=tomorrow')).toEqual(none);
});

test('the query has what is chosen, and the time as a moment', () => {
  expect(auditQueryOf(none, '')).toEqual({});
  expect(auditQueryOf({ ...none, action: 'secret.', actor: id, actorType: 'user' }, 'c1')).toEqual({
    action: 'secret.',
    actor: id,
    actorType: 'user',
    cursor: 'c1',
  });
  const since = Date.parse(auditQueryOf({ ...none, since: '24h' }, '')?.since ?? '');
  expect(Math.abs(Date.now() - 86_400_000 - since)).toBeLessThan(60_000);
});

test('the command asks for the same', () => {
  expect(auditCommand('acme', none)).toBe('keyframe audit -o acme');
  expect(auditCommand(undefined, { ...none, actorType: 'system' })).toBe(
    'keyframe audit --instance --actor-type system',
  );
  expect(auditCommand('acme', { action: 'secret.', actor: id, actorType: '', since: '7d' })).toBe(
    `keyframe audit -o acme --action secret. --actor ${id} --since 7d`,
  );
});

test('an action is checked before it is sent', () => {
  expect(['', 'secret.list', 'secret.', 'authenticate'].map((text) => actionFault(text))).toEqual(
    Array.from({ length: 4 }),
  );
  expect(actionFault('secret list')).toContain('An action is like');
  expect(['secret.list', 'secret.', 'secret.lost', 'secrets.'].map((text) => isUnknownAction(text))).toEqual([
    false,
    false,
    true,
    true,
  ]);
});

test('an actor is found by name or id', () => {
  const names = new Map([[id, 'ann@example.com']]);
  expect(actorIdOf('Ann@Example.com', names)).toBe(id);
  expect(actorIdOf(id.toUpperCase(), new Map())).toBe(id);
  expect(actorIdOf('bob@example.com', names)).toBeUndefined();
});

test('a target is one line with its place first, and a list of all of its fields', () => {
  const target = {
    organization: 'acme',
    project: 'shop',
    environment: 'production',
    keys: ['A', 'B', 'C', 'D'],
    deleted: 2,
    comment: null,
    projectId: id,
  };
  expect(targetText(target)).toBe('shop / production · A, B, C and 1 more · deleted 2');
  expect(targetText({ serviceTokenId: id }, new Map([[id, 'ci']]))).toBe('ci');
  expect(targetText({ name: 'web', serviceTokenId: id }, new Map([[id, 'ci']]))).toBe('web');
  expect(targetText({ expiresAt: '2026-11-29T17:40:49.319Z' })).not.toContain('T17:');
  expect(targetFields(target)).toContainEqual(['project id', id]);
  expect(targetFields(target)).toContainEqual(['keys', 'A, B, C, D']);
  expect(targetFields(target).map(([name]) => name)).not.toContain('comment');
});

test('the SecretSyncs of an entry are named: the first in the line, all in the list', () => {
  const secretSyncs = ['a', 'b', 'c', 'd'].map((name) => ({ name: `team/${name}`, uid: id, requestId: id }));
  const [first, ...others] = secretSyncs;
  const target = { secretSyncs: [{ ...(first ?? { name: '', uid: id, requestId: id }), source: 'base' }, ...others] };
  expect(targetText(target)).toBe('SecretSyncs team/a, team/b, team/c and 1 more');
  const detail = `uid ${id} · request ${id}`;
  expect(targetFields(target)).toEqual([
    ['SecretSyncs', ['team/a · source base', 'team/b', 'team/c', 'team/d'].map((title) => ({ title, detail }))],
  ]);
  expect(targetText({ secretSync: 'team/a' })).toBe('SecretSync team/a');
});
