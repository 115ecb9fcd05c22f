import { audienceOf } from '../../domain/audience.ts';
import type { ClusterRulesRecord } from '../../services/clusters/cluster-rules.ts';
import type { ServedClusterRecord } from '../../services/clusters/clusters.ts';
import type { ClusterRulesView, ClusterView } from '../../wire/clusters.ts';
import {
  disableCluster,
  enableCluster,
  forgetCluster,
  getClusterRules,
  listClusterRules,
  listClusters,
  registerCluster,
  removeClusterRules,
  setClusterRules,
} from '../../wire/contract/clusters.ts';
import { instanceRoute, organizationRoute, type Route } from '../route.ts';

/** docs/interface.md 4.18. */
export const clusterRoutes: readonly Route[] = [
  instanceRoute({
    ...listClusters,
    action: 'cluster.list_all',
    async handle({ servedClusters }, access) {
      const list = await servedClusters.list(access);
      return { status: 200, body: { clusters: list.map(clusterViewOf), nextCursor: null } };
    },
  }),
  instanceRoute({
    ...registerCluster,
    action: 'cluster.update',
    async handle({ clusterRegistrations }, access, { params, body }) {
      return { status: 200, body: clusterViewOf(await clusterRegistrations.set(access, params.name, body)) };
    },
  }),
  instanceRoute({
    ...disableCluster,
    action: 'cluster.disable',
    async handle({ servedClusters }, access, { params }) {
      return { status: 200, body: clusterViewOf(await servedClusters.disable(access, params.name)) };
    },
  }),
  instanceRoute({
    ...enableCluster,
    action: 'cluster.enable',
    async handle({ servedClusters }, access, { params }) {
      return { status: 200, body: clusterViewOf(await servedClusters.enable(access, params.name)) };
    },
  }),
  instanceRoute({
    ...forgetCluster,
    action: 'cluster.forget',
    async handle({ servedClusters }, access, { params, query: { plan = false } }) {
      const had = await servedClusters[plan ? 'planForget' : 'forget'](access, params.name);
      return { status: 200, body: { ...had, secrets: [...had.secrets], tokens: [...had.tokens] } };
    },
  }),
  organizationRoute({
    ...listClusterRules,
    action: 'cluster.list',
    async handle({ clusterRules }, access) {
      const clusters = await clusterRules.list(access);
      return { status: 200, body: { clusters: clusters.map(viewOf), nextCursor: null } };
    },
  }),
  organizationRoute({
    ...getClusterRules,
    action: 'cluster.list',
    async handle({ clusterRules }, access, { params }) {
      return { status: 200, body: viewOf(await clusterRules.get(access, params.name)) };
    },
  }),
  organizationRoute({
    ...setClusterRules,
    action: 'cluster.set_rules',
    async handle({ clusterRules }, access, { params, body }) {
      return { status: 200, body: viewOf(await clusterRules.set(access, params.name, body)) };
    },
  }),
  organizationRoute({
    ...removeClusterRules,
    action: 'cluster.set_rules',
    async handle({ clusterRules }, access, { params, query }) {
      await clusterRules.set(access, params.name, { rules: null, ...query });
      return { status: 204 };
    },
  }),
];

function clusterViewOf(record: ServedClusterRecord): ClusterView {
  const { name, isHome, state, uid, seenAt, disabledAt, controller: found, issuer } = record;
  const times = { seenAt: seenAt?.toISOString() ?? null, disabledAt: disabledAt?.toISOString() ?? null };
  const controller = found && { ...found, kinds: [...found.kinds] };
  return { name, isHome, state, uid, ...times, controller, issuer, registration: registrationOf(record) };
}

function registrationOf({ name, registration }: ServedClusterRecord): ClusterView['registration'] {
  if (registration === null) return null;
  const { instance, algorithms, ...shown } = registration;
  const audience = audienceOf(instance, { type: 'cluster', cluster: name });
  return { ...shown, audience, algorithms: [...algorithms] };
}

function viewOf({ rules, ...record }: ClusterRulesRecord): ClusterRulesView {
  const shown = rules?.map((rule) => ({ ...rule, environments: [...rule.environments], kinds: [...rule.kinds] }));
  return { ...record, rules: shown ?? null };
}
