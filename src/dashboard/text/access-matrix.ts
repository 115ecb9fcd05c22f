import type { FleetConsumerView } from '../../wire/consumers.ts';
import type { ServiceTokenView } from '../../wire/service-tokens.ts';

/** What a namespace may do with an environment, as far as the server knows. */
export interface AccessCell {
  readonly state: 'reads' | 'refused' | 'revoked';
  readonly consumers: readonly FleetConsumerView[];
  /** The keyless token of the namespace; undefined if there is none, or if the user may not see it. */
  readonly token: ServiceTokenView | undefined;
}

export interface AccessRow {
  readonly cluster: string;
  readonly namespace: string;
  /** By the id of the environment. */
  readonly cells: ReadonlyMap<string, AccessCell>;
}

const refusals = new Set(['AccessDenied', 'TokenRevoked', 'AuthenticationFailed']);

/** The namespaces that read environments, by cluster and name. Those whose namespace the user may not see are left out. */
export function accessMatrix(
  consumers: readonly FleetConsumerView[],
  tokens: readonly ServiceTokenView[],
): readonly AccessRow[] {
  const known = [
    ...consumers.flatMap((consumer) =>
      consumer.namespace === null || consumer.environmentDeleted
        ? []
        : [{ cluster: consumer.cluster, namespace: consumer.namespace, environment: consumer.environmentId, consumer }],
    ),
    ...tokens.flatMap((token) =>
      token.holder === null || token.environmentId === null
        ? []
        : [{ ...token.holder, environment: token.environmentId, token }],
    ),
  ];
  const rows = Map.groupBy(known, ({ cluster, namespace }) => `${cluster} ${namespace}`);
  return [...rows]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, members]) => {
      const [first] = members;
      if (first === undefined) return [];
      const cells = Map.groupBy(members, ({ environment }) => environment);
      return [
        {
          cluster: first.cluster,
          namespace: first.namespace,
          cells: new Map([...cells].map(([environment, facts]) => [environment, cellOf(facts)])),
        },
      ];
    });
}

interface Fact {
  readonly consumer?: FleetConsumerView;
  readonly token?: ServiceTokenView;
}

function cellOf(facts: readonly Fact[]): AccessCell {
  const consumers = facts.flatMap(({ consumer }) => (consumer === undefined ? [] : [consumer]));
  const token = facts.find((fact) => fact.token !== undefined)?.token;
  const isRefused = consumers.some(({ ready, reason }) => !ready && refusals.has(reason));
  const isRevoked = token !== undefined && token.revokedAt !== null;
  return { state: isRevoked ? 'revoked' : isRefused ? 'refused' : 'reads', consumers, token };
}

/** An AccessGrant that lets the SecretSyncs of a namespace read an environment. */
export function grantManifest(
  namespace: string,
  place: { organization: string; project: string; environment: string },
): string {
  return `apiVersion: keyframe.dev/v1alpha1
kind: AccessGrant
metadata:
  name: ${namespace}-${place.project}-${place.environment}
spec:
  namespaces: [${namespace}]
  rules:
    - organization: ${place.organization}
      project: ${place.project}
      environments: [${place.environment}]
      kinds: [SecretSync]`;
}
