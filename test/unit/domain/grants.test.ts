import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import {
  covers,
  type GrantNeed,
  type GrantRule,
  grantPatch,
  grantYaml,
  grantedText,
  reveals,
  type TokenPermission,
} from '../../../src/domain/grants.ts';
import type { GrantedKindName, ResourceKindName } from '../../../src/domain/kinds.ts';
import { nonEmpty } from '../../support/fixtures/non-empty.ts';

/** What each rule (by project and environments) covers, with permission and kind right. */
const placeTable = `
  rule               acme acme/web acme/api acme/web/prod acme/web/dev acme/api/prod umbra umbra/web/prod
  *   *              yes  yes      yes      yes           yes          yes           no    no
  *   prod           no   no       no       yes           no           yes           no    no
  web *              no   yes      no       yes           yes          no            no    no
  web prod           no   no       no       yes           no           no            no    no
  web prod,dev       no   no       no       yes           yes          no            no    no
  api *              no   no       yes      no            no           yes           no    no
`;

const permissions: readonly TokenPermission[] = ['read', 'read_write'];
const kinds: readonly ResourceKindName[] = ['ServiceToken', 'SecretSnapshot', 'SnapshotRestore', 'SecretEnvironment'];
// The kinds that a rule is for: none of them alone, one, several.
const kindLists: readonly (readonly ResourceKindName[])[] = [...kinds.map((kind) => [kind]), kinds, []];

const combinations = permissions.flatMap((given) =>
  permissions.flatMap((permission) =>
    kindLists.flatMap((list) => kinds.map((kind) => ({ given, permission, list, kind }))),
  ),
);

interface Row {
  readonly rule: Pick<GrantRule, 'project' | 'environments'>;
  readonly place: Pick<GrantNeed, 'organization' | 'project' | 'environment'>;
  readonly covered: boolean;
}

function table(): Row[] {
  const [header = '', ...lines] = placeTable.trim().split('\n');
  const places = header.trim().split(/\s+/).slice(1);
  return lines.flatMap((line) => {
    const [project = '', environments = '', ...cells] = line.trim().split(/\s+/);
    if (cells.length !== places.length) throw new Error(`a line of the table has too few cells: ${line}`);
    return cells.map((cell, index) => {
      const [organization = '', ofProject = null, environment = null] = places[index]?.split('/') ?? [];
      const place = { organization, project: ofProject, environment };
      return { rule: { project, environments: environments.split(',') }, place, covered: cell === 'yes' };
    });
  });
}

describe('a rule', () => {
  test.each(table())('$rule covers $place: $covered, by every permission and kind', ({ rule, place, covered }) => {
    for (const { given, permission, list, kind } of combinations) {
      const whole = { organization: 'acme', ...rule, permission: given, kinds: list };
      const expected = covered && list.includes(kind) && (permission === 'read' || given === 'read_write');
      expect(covers([whole], { ...place, kind, permission })).toBe(expected);
    }
  });

  test('covers alone or not at all: halves do not add up', () => {
    const need: GrantNeed = {
      kind: 'ServiceToken',
      organization: 'acme',
      project: 'web',
      environment: 'prod',
      permission: 'read_write',
    };
    const half: GrantRule = {
      organization: 'acme',
      project: 'web',
      environments: ['prod'],
      permission: 'read',
      kinds: ['ServiceToken'],
    };
    const halves: GrantRule[] = [half, { ...half, permission: 'read_write', environments: ['dev'] }];
    halves.push({ ...half, permission: 'read_write', kinds: ['SecretSnapshot'] });
    expect(covers(halves, need)).toBe(false);
    expect(covers([...halves, { ...half, permission: 'read_write' }], need)).toBe(true);
    expect(covers([], need)).toBe(false);
  });

  test('covers a project whole only with "*", not with every environment by name', () => {
    const rule: GrantRule = {
      organization: 'acme',
      project: 'web',
      environments: ['prod', 'dev'],
      permission: 'read',
      kinds: ['ServiceToken'],
    };
    const need = { kind: 'ServiceToken', organization: 'acme', project: 'web', permission: 'read' } as const;
    expect(covers([rule], { ...need, environment: null })).toBe(false);
  });
});

describe('reading as the keyless token of a namespace', () => {
  const place = { organization: 'acme', project: 'web', environment: 'prod' };
  const rule: GrantRule = { ...place, environments: ['prod'], permission: 'read', kinds: ['SecretSync'] };
  const need: GrantNeed = { ...place, kind: 'SecretSync', permission: 'read' };

  test('is covered by a rule for it, or for ServiceTokens, and by no other', () => {
    const granted: readonly GrantedKindName[] = [...kinds, 'SnapshotSchedule', 'SecretSync'];
    const covering = granted.filter((kind) => covers([{ ...rule, kinds: [kind] }], need));
    expect(covering).toEqual(['ServiceToken', 'SecretSync']);
    expect(covers([{ ...rule, kinds: ['ServiceToken'], environments: ['dev'] }], need)).toBe(false);
  });

  test('allows no other kind anything', () => {
    for (const kind of kinds) expect(covers([rule], { ...need, kind })).toBe(false);
  });

  test('is requested by its own kind, and granted with that of ServiceTokens', () => {
    expect(grantYaml(need, 'team-a', 'g')).toContain('permission: Read\n      kinds: [SecretSync]\n');
    expect(grantPatch(need, 'g')).toContain('"kinds":["SecretSync"]');
    const rules: GrantRule[] = [rule, { ...rule, environments: ['dev'], kinds: ['ServiceToken'] }];
    expect(grantedText(rules, 'SecretSync')).toBe('Read on acme/web/dev, Read on acme/web/prod');
    expect(grantedText(rules, 'ServiceToken')).toBe('Read on acme/web/dev');
  });
});

test('a rule of whatever kind and permission reveals what it covers for reading, and nothing else', () => {
  const place = { organization: 'acme', project: 'web', environment: 'prod' };
  const rule: GrantRule = { ...place, environments: ['prod'], permission: 'read', kinds: ['ServiceToken'] };
  expect(reveals([rule], place)).toBe(true);
  expect(reveals([{ ...rule, environments: ['dev'] }], place)).toBe(false);
  expect(reveals([rule], { ...place, organization: 'umbra' })).toBe(false);
  expect(reveals([{ ...rule, kinds: [] }], place)).toBe(false);
  expect(reveals([], place)).toBe(false);
});

describe('the AccessGrant that a message shows', () => {
  const needs = nonEmpty(
    table().flatMap(({ place }) =>
      permissions.flatMap((permission) => kinds.map((kind): GrantNeed => ({ ...place, kind, permission }))),
    ),
  );

  test('covers what was missing, once it is read back', () => {
    for (const need of needs) {
      const grant = parse(grantYaml(need, 'team-a', 'team-a-acme')) as {
        spec: { namespaces: string[]; rules: (Omit<GrantRule, 'permission'> & { permission: 'Read' | 'ReadWrite' })[] };
      };
      const rules = grant.spec.rules.map((rule): GrantRule => {
        return { ...rule, permission: rule.permission === 'Read' ? 'read' : 'read_write' };
      });
      expect(covers(rules, need)).toBe(true);
      expect(grant.spec.namespaces).toEqual(['team-a']);
    }
  });

  test('and the patch that adds a rule to one allow the same', () => {
    for (const need of needs) {
      const [, command = '', patch = ''] =
        /^(kubectl patch accessgrants\.keyframe\.dev own --type=json -p) '([^']+)'$/.exec(grantPatch(need, 'own')) ??
        [];
      expect(command).not.toBe('');
      const grant = parse(grantYaml(need, 'team-a', 'g')) as { spec: { rules: unknown[] } };
      expect(JSON.parse(patch)).toEqual([{ op: 'add', path: '/spec/rules/-', value: grant.spec.rules[0] }]);
    }
  });

  test('allows no more than that', () => {
    const need: GrantNeed = {
      kind: 'ServiceToken',
      organization: 'acme',
      project: 'web',
      environment: 'prod',
      permission: 'read',
    };
    expect(parse(grantYaml(need, 'team-a', 'g'))).toEqual({
      apiVersion: 'keyframe.dev/v1alpha1',
      kind: 'AccessGrant',
      metadata: { name: 'g' },
      spec: {
        namespaces: ['team-a'],
        rules: [
          {
            organization: 'acme',
            project: 'web',
            environments: ['prod'],
            permission: 'Read',
            kinds: ['ServiceToken'],
          },
        ],
      },
    });
  });

  test('allows to a schedule what it has SecretSnapshots do as well', () => {
    const place = { organization: 'acme', project: 'web', environment: 'prod' };
    const yaml = grantYaml({ ...place, kind: 'SnapshotSchedule', permission: 'read_write' }, 'team-a', 'g');
    expect(yaml).toContain('permission: ReadWrite\n      kinds: [SnapshotSchedule, SecretSnapshot]\n');
  });

  test('stays text where a name looks like a number or a truth value', () => {
    const need: GrantNeed = {
      kind: 'ServiceToken',
      organization: '1e3',
      project: 'no',
      environment: '007',
      permission: 'read',
    };
    expect(parse(grantYaml(need, '12', 'g'), { version: '1.1' })).toMatchObject({
      spec: { namespaces: ['12'], rules: [{ organization: '1e3', project: 'no', environments: ['007'] }] },
    });
  });
});

describe('what a namespace is granted', () => {
  const rule = { organization: 'acme', project: 'web', permission: 'read', kinds: ['ServiceToken'] } as const;

  test('is listed for one kind, by the names in the rules alone', () => {
    const rules: GrantRule[] = [
      { ...rule, environments: ['prod', 'dev'] },
      { ...rule, project: '*', environments: ['*'], permission: 'read_write' },
      { ...rule, organization: 'umbra', environments: ['prod'], kinds: ['SecretSnapshot'] },
    ];
    expect(grantedText(rules, 'ServiceToken')).toBe('Read on acme/web/{prod, dev}, ReadWrite on acme/*/*');
    expect(grantedText(rules, 'SnapshotRestore')).toBe('nothing');
  });

  test('is shortened if it is long', () => {
    const names = Array.from({ length: 64 }, (_, index) => `${'n'.repeat(60)}-${index}`);
    const rules = names.map((project): GrantRule => ({ ...rule, project, environments: names }));
    const text = grantedText(rules, 'ServiceToken');
    expect(text.length).toBeLessThan(2500);
    expect(text).toMatch(/, 59 more\}, .*, 59 more$/);
  });

  test('is made once for all refusals by the same rules', () => {
    let read = 0;
    const counted: GrantRule = {
      ...rule,
      environments: ['prod'],
      get permission() {
        read += 1;
        return 'read' as const;
      },
    };
    const rules = [counted];
    const all = Array.from({ length: 3 }, () => grantedText(rules, 'ServiceToken'));
    expect([new Set(all).size, read]).toEqual([1, 1]);
    grantedText([counted], 'ServiceToken');
    expect(read).toBe(2);
  });
});
