import { randomUUID } from 'node:crypto';
import type { GrantRule } from '../../../src/domain/grants.ts';
import type { ResourceKindName } from '../../../src/domain/kinds.ts';
import type { ResourceCaller } from '../../../src/domain/principal.ts';

export interface TestResource {
  readonly kind: ResourceKindName;
  /** What its namespace is granted; nothing by default. */
  readonly grants?: readonly GrantRule[];
  /** What its namespace is granted at each look, instead. */
  readonly grantsNow?: () => readonly GrantRule[];
  readonly uid?: string;
  readonly cluster?: string;
  readonly name?: string;
}

/** A custom resource of namespace `team-a` (a SecretEnvironment: of none) as the controller makes it act. */
export function resourceCaller(resource: TestResource): ResourceCaller {
  const { kind, grants = [], grantsNow = () => grants, uid = randomUUID(), cluster = 'test', name = 'own' } = resource;
  const namespace = kind === 'SecretEnvironment' ? null : 'team-a';
  return {
    principal: {
      type: 'resource',
      id: uid,
      name: `${kind} ${namespace === null ? '' : `${namespace}/`}${name}`,
      cluster,
      kind,
      namespace,
      get grants() {
        return grantsNow();
      },
    },
    requestId: randomUUID(),
    sourceAddress: null,
  };
}
