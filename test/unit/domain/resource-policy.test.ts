import { expect, test } from '@jest/globals';
import type { GrantRule, TokenPermission } from '../../../src/domain/grants.ts';
import { decideResource, type ResourceAction, resourceRules } from '../../../src/domain/resource-policy.ts';
import type { ResourceKindName } from '../../../src/domain/kinds.ts';
import { resourceCaller } from '../../support/api/resource-caller.ts';

/**
 * What each kind may do with no grant, with one for read and with one for read_write on the very environment. Written
 * out so that a change of the policy shows here; `denied` stands for all three. Asked for is read_write.
 */
const policyTable = `
  action                  ServiceToken           SecretSnapshot          SnapshotRestore        SnapshotSchedule       SecretEnvironment
  service_token.create    denied/denied/allowed  denied                  denied                 denied                 denied
  service_token.resume    denied/denied/allowed  denied                  denied                 denied                 denied
  service_token.update    denied/denied/allowed  denied                  denied                 denied                 denied
  service_token.read      allowed                denied                  denied                 denied                 denied
  service_token.activate  allowed                denied                  denied                 denied                 denied
  service_token.suspend   allowed                denied                  denied                 denied                 denied
  service_token.revoke    allowed                denied                  denied                 denied                 denied
  snapshot.create         denied                 denied/denied/allowed   denied                 denied                 denied
  snapshot.read           denied                 denied/allowed/allowed  denied                 denied                 denied
  snapshot.find           denied                 allowed                 denied                 denied                 denied
  snapshot.delete         denied                 allowed                 denied                 denied                 denied
  snapshot.restore        denied                 denied                  denied/denied/allowed  denied                 denied
  restore.find            denied                 denied                  allowed                denied                 denied
  schedule.run            denied                 denied                  denied                 denied/denied/allowed  denied
  schedule.find           denied                 denied                  denied                 allowed                denied
  environment.create      denied                 denied                  denied                 denied                 allowed
  environment.read        denied                 denied                  denied                 denied                 allowed
  environment.delete      denied                 denied                  denied                 denied                 allowed
  environment.hand_over   denied                 denied                  denied                 denied                 allowed
`;

const place = { organization: 'acme', project: 'web', environment: 'prod' };

function grant(permission: TokenPermission, kind: ResourceKindName): GrantRule {
  // A schedule has SecretSnapshots do its work.
  const kinds: ResourceKindName[] = kind === 'SnapshotSchedule' ? [kind, 'SecretSnapshot'] : [kind];
  return { organization: 'acme', project: 'web', environments: ['prod'], permission, kinds };
}

function cells(): { action: ResourceAction; kind: ResourceKindName; expected: string[] }[] {
  const [header = '', ...lines] = policyTable.trim().split('\n');
  const kinds = header.trim().split(/\s+/).slice(1) as ResourceKindName[];
  return lines.flatMap((line) => {
    const [action = '', ...answers] = line.trim().split(/\s+/);
    return kinds.map((kind, index) => {
      const given = answers[index]?.split('/') ?? [];
      const expected = given.length === 1 ? Array.from({ length: 3 }, () => given[0] ?? '') : given;
      return { action: action as ResourceAction, kind, expected };
    });
  });
}

test.each(cells())(
  '$action by a $kind without, with read and with read_write granted',
  ({ action, kind, expected }) => {
    const grants = [[], [grant('read', kind)], [grant('read_write', kind)]];
    const answers = grants.map((rules) => {
      const { principal } = resourceCaller({ kind, grants: rules });
      return decideResource(principal, action, { ...place, permission: 'read_write' });
    });
    expect(answers).toEqual(expected);
  },
);

test('the table names every action of every kind', () => {
  const inTable = new Set(cells().map(({ action }) => action));
  const inPolicy = new Set(Object.values(resourceRules).flatMap((rules) => Object.keys(rules)));
  expect([...inTable].sort()).toEqual([...inPolicy].sort());
});

test('an action at a place is denied if no place is given', () => {
  const { principal } = resourceCaller({ kind: 'ServiceToken', grants: [grant('read_write', 'ServiceToken')] });
  expect(decideResource(principal, 'service_token.create')).toBe('denied');
});

test('a token that asks for read needs no more than read', () => {
  const { principal } = resourceCaller({ kind: 'ServiceToken', grants: [grant('read', 'ServiceToken')] });
  expect(decideResource(principal, 'service_token.create', { ...place, permission: 'read' })).toBe('allowed');
});

test('grants for another kind do not count', () => {
  const { principal } = resourceCaller({ kind: 'SecretSnapshot', grants: [grant('read_write', 'ServiceToken')] });
  expect(decideResource(principal, 'snapshot.create', { ...place, permission: 'read_write' })).toBe('denied');
});

test.each<ResourceKindName>(['SnapshotSchedule', 'SecretSnapshot'])(
  'a schedule needs a grant for itself and for its SecretSnapshots: one for %s alone is too little',
  (kind) => {
    const alone = { ...grant('read_write', kind), kinds: [kind] };
    const other = { ...alone, kinds: ['SnapshotSchedule', 'SecretSnapshot'].filter((each) => each !== kind) };
    const asked = { ...place, permission: 'read_write' } as const;
    const decide = (grants: GrantRule[]): string =>
      decideResource(resourceCaller({ kind: 'SnapshotSchedule', grants }).principal, 'schedule.run', asked);
    expect(decide([alone])).toBe('denied');
    // Two rules will do, where each covers one kind whole.
    expect(decide([alone, other as GrantRule])).toBe('allowed');
    expect(decide([alone, { ...(other as GrantRule), permission: 'read' }])).toBe('denied');
  },
);

test('grants are read again at each judgement', () => {
  let rules = [grant('read', 'ServiceToken')];
  const { principal } = resourceCaller({ kind: 'ServiceToken', grantsNow: () => rules });
  const ask = (): string => decideResource(principal, 'service_token.create', { ...place, permission: 'read' });
  expect(ask()).toBe('allowed');
  rules = [];
  expect(ask()).toBe('denied');
});
