/** @default An upgrade takes no right from the accounts of the former release, whose pods still run. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../tools/devcluster/cluster/kube-http.ts';
import { chartFolder, neededValues, objectsOf, runHelm } from '../support/cluster/helm.ts';
import { formerChart, formerRelease } from '../support/cluster/released.ts';

/**
 * helm replaces the rights before the pods, so pods of the former release go on with those of the present chart. A right
 * that only they need is given until the next release is recorded.
 */

/** A rule is about resources or about URLs. */
interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

interface Role extends KubeObject {
  readonly rules: readonly Rule[];
}

interface Binding extends KubeObject {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly namespace: string; readonly name: string }[];
}

interface Right {
  readonly account: string;
  readonly verb: string;
  /** Or a URL. */
  readonly resource: string;
  /** Of the one object; `*` for all. */
  readonly name: string;
  /** The namespace; `*` for all. */
  readonly place: string;
}

const kinds = /^kind: (?:ServiceAccount|(?:Cluster)?Role(?:Binding)?)$/m;
const hook = 'helm.sh/hook';

/** The accounts and their rights that a chart leaves in the cluster. Those of hooks come with each operation of helm. */
async function accessOf(chart: string, settings: string): Promise<KubeObject[]> {
  const values = [...neededValues, '--set', settings];
  const manifests = await runHelm(['template', 'keyframe', chart, '--namespace', 'keyframe', ...values]);
  const access = manifests.split(/^---$/m).filter((manifest) => kinds.test(manifest));
  return objectsOf(access.join('---\n')).filter(({ metadata }) => metadata.annotations?.[hook] === undefined);
}

function accountsOf(objects: readonly KubeObject[]): string[] {
  return objects.filter(({ kind }) => kind === 'ServiceAccount').map(({ metadata }) => metadata.name);
}

function rightsOf(objects: readonly KubeObject[]): Right[] {
  const bindings = objects.filter(({ kind = '' }) => kind.endsWith('RoleBinding')) as Binding[];
  return bindings.flatMap(({ metadata: { namespace: place = '*' }, roleRef, subjects }) => {
    const role = objects.find(
      ({ kind, metadata }) =>
        kind === roleRef.kind && metadata.name === roleRef.name && (metadata.namespace ?? place) === place,
    ) as Role | undefined;
    const accounts = subjects.map(({ namespace, name }) => `${namespace}/${name}`);
    return (role?.rules ?? []).flatMap((rule) =>
      accounts.flatMap((account) => rightsOfRule(rule).map((right) => ({ ...right, account, place }))),
    );
  });
}

function rightsOfRule(rule: Rule): Pick<Right, 'verb' | 'resource' | 'name'>[] {
  const { apiGroups = [], resources = [], resourceNames = ['*'], nonResourceURLs = [], verbs } = rule;
  const named = apiGroups.flatMap((group) => resources.map((resource) => `${resource}.${group}`));
  return [...named, ...nonResourceURLs].flatMap((resource) =>
    verbs.flatMap((verb) => resourceNames.map((name) => ({ verb, resource, name }))),
  );
}

function textOf({ account, verb, resource, name, place }: Right): string {
  return `${account}: ${verb} ${resource} ${name} in ${place}`;
}

/** What the former objects allow and the present ones do not. */
function missingRights(former: readonly KubeObject[], present: readonly KubeObject[]): string[] {
  const given = new Set(rightsOf(present).map(textOf));
  const isGiven = (right: Right): boolean =>
    [right, { ...right, name: '*' }].some((one) => given.has(textOf(one)) || given.has(textOf({ ...one, place: '*' })));
  return rightsOf(former)
    .filter((right) => !isGiven(right))
    .map(textOf);
}

describe.each(['rollouts=true', 'watchNamespaces={team-a},rollouts=true', 'rollouts=true,rolloutNamespaces={team-a}'])(
  'with %s, an account',
  (settings) => {
    let former: KubeObject[];
    let present: KubeObject[];

    beforeAll(async () => {
      [former, present] = await Promise.all([accessOf(formerChart, settings), accessOf(chartFolder, settings)]);
    });

    test(`of release ${formerRelease} stays, with every right`, () => {
      expect(accountsOf(former).length).toBeGreaterThan(1);
      expect(rightsOf(former).length).toBeGreaterThan(40);
      expect(accountsOf(present)).toEqual(expect.arrayContaining(accountsOf(former)));
      expect(missingRights(former, present)).toEqual([]);
    });

    test('that loses a right is found', () => {
      const fewer = present.filter(({ metadata }) => metadata.name !== 'keyframe-controller-lease');
      expect(missingRights(present, fewer)).toEqual([
        'keyframe/keyframe-controller: create leases.coordination.k8s.io * in keyframe',
        'keyframe/keyframe-controller: get leases.coordination.k8s.io keyframe-controller in keyframe',
        'keyframe/keyframe-controller: update leases.coordination.k8s.io keyframe-controller in keyframe',
      ]);
      const without = present.filter(({ kind }) => kind !== 'ClusterRole');
      expect(missingRights(present, without)).toContain('keyframe/keyframe-controller: get /openid/v1/jwks * in *');
    });
  },
);
