import { isDeepStrictEqual } from 'node:util';
import { type ClusterRule, clusterRuleText, validateClusterRule } from '../../domain/cluster-ceiling.ts';
import { DomainError, invalidField } from '../../domain/errors/domain-error.ts';
import { limits } from '../../domain/limits.ts';
import {
  type ClusterRulesRecord,
  findClusterRules,
  listClusterRules,
  lockClusterRules,
  putClusterRules,
} from '../../store/cluster-rules.ts';
import type { Database } from '../../store/database.ts';
import { notifyClusterRules } from '../../store/notify.ts';
import type { OrganizationAccess } from '../access/access.ts';
import { absentCluster } from '../access/refusals.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { auditedFailure, successRecord } from '../audit/audited.ts';
import { makeChange } from '../change/change.ts';
import { checkClusterName, checkVersion } from '../kernel/checks.ts';
import { suspendRefusedTokens } from './end-tokens.ts';

export type { ClusterRulesRecord } from '../../store/cluster-rules.ts';

export interface SetClusterRules {
  /** Null removes all rules. */
  readonly rules: readonly ClusterRule[] | null;
  /** The version that the rules must be at; 0 requires that the organization never set any. */
  readonly expectedVersion?: number | undefined;
}

export interface ClusterRulesDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'recordFailure'>;
}

/**
 * What an organization allows clusters (docs/clusters.md). Its admins see the names of all known clusters, and the rules
 * of their own organization only.
 */
export class ClusterRules {
  readonly #deps: ClusterRulesDeps;

  constructor(deps: ClusterRulesDeps) {
    this.#deps = deps;
  }

  /** All known clusters by name. */
  async list({ organizationId }: OrganizationAccess<'cluster.list'>): Promise<readonly ClusterRulesRecord[]> {
    return listClusterRules(this.#deps.database.pool, organizationId);
  }

  /** One cluster. Throws DomainError not_found for one that is not known. */
  async get({ organizationId }: OrganizationAccess<'cluster.list'>, cluster: string): Promise<ClusterRulesRecord> {
    checkClusterName('name', cluster);
    const found = await findClusterRules(this.#deps.database.pool, organizationId, cluster);
    if (found === undefined) throw absentCluster(cluster);
    return found;
  }

  /**
   * Sets the rules for a cluster, or removes them. Each change of the cluster that commits later is judged by them; then
   * the tokens that they do not allow are suspended. Throws DomainError not_found for a cluster that is not known, invalid_input and version_mismatch.
   */
  async set(
    access: OrganizationAccess<'cluster.set_rules'>,
    cluster: string,
    { rules, expectedVersion }: SetClusterRules,
  ): Promise<ClusterRulesRecord> {
    return auditedFailure(this.#deps.audit, access, async (note) => {
      checkClusterName('name', cluster);
      note({ cluster });
      checkRules(rules ?? []);
      if (expectedVersion !== undefined) checkVersion('expectedVersion', expectedVersion, 0);
      const { organizationId } = access;
      const set = await makeChange(this.#deps, access, async (tx) => {
        const before = await lockClusterRules(tx, organizationId, cluster);
        if (before === undefined) throw absentCluster(cluster);
        if (expectedVersion !== undefined && expectedVersion !== before.version) throw otherVersion(before);
        const isChange = !isDeepStrictEqual(rules, before.rules) || acceptsGeneration(before, rules);
        const version = isChange ? await putClusterRules(tx, { organizationId, cluster }, rules) : before.version;
        if (isChange)
          await notifyClusterRules(tx, { organizationId, cluster, version, isNothing: allowsNothing(before, rules) });
        const acceptedGeneration = isChange ? before.generation : before.acceptedGeneration;
        const result = { ...before, rules, version, acceptedGeneration, isOutdated: false };
        const audited = { cluster, rules: textsOf(rules), version, from: textsOf(before.rules), ...acceptance(result) };
        return { result, audit: successRecord(access, audited) };
      });
      await suspendRefusedTokens(this.#deps, access, { cluster, organizationId });
      return set;
    });
  }
}

/** Whether setting rules accepts the cluster as it is now. The same rules do, too. */
function acceptsGeneration(
  { generation, acceptedGeneration }: ClusterRulesRecord,
  rules: readonly ClusterRule[] | null,
): boolean {
  return rules !== null && generation !== acceptedGeneration;
}

function acceptance({ acceptedGeneration }: ClusterRulesRecord): { readonly generation?: number } {
  return acceptedGeneration === null ? {} : { generation: acceptedGeneration };
}

function checkRules(rules: readonly ClusterRule[]): void {
  if (rules.length > limits.rulesPerCluster) {
    throw invalidField('rules', `must be at most ${limits.rulesPerCluster} rules`);
  }
  for (const [index, rule] of rules.entries()) {
    const fault = validateClusterRule(rule);
    if (fault !== undefined) throw invalidField(`rules.${index}.${fault.field}`, fault.message);
  }
}

function allowsNothing({ isHome }: ClusterRulesRecord, rules: readonly ClusterRule[] | null): boolean {
  return rules === null ? !isHome : rules.length === 0;
}

function textsOf(rules: readonly ClusterRule[] | null): readonly string[] | null {
  return rules === null ? null : rules.map(clusterRuleText);
}

function otherVersion({ name, version }: ClusterRulesRecord): DomainError {
  return new DomainError(
    'version_mismatch',
    `the rules for cluster ${name} are at version ${version}; read them, and repeat the change with that version`,
  );
}
