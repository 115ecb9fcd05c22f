import { randomUUID } from 'node:crypto';
import { validateClusterUid, validateSubject } from '../../domain/cluster-registration.ts';
import { DomainError, invalidField } from '../../domain/errors/domain-error.ts';
import { appendAudits } from '../../store/audit.ts';
import {
  type ClusterIssuerRecord,
  findRegistration,
  lockClusterIssuer,
  putRegistration,
  type RegistrationRecord,
} from '../../store/cluster-registrations.ts';
import { listAllowingOrganizations, lockCluster, outdateRules } from '../../store/cluster-rules.ts';
import type { Database } from '../../store/database.ts';
import { notifyCluster, notifyClusterRules } from '../../store/notify.ts';
import { readServedCluster, type ServedClusterRecord } from '../../store/served-clusters.ts';
import type { Transaction } from '../../store/transaction.ts';
import { insertTrustedIssuer, type TrustedIssuerContent, updateTrustedIssuer } from '../../store/trusted-issuers.ts';
import type { InstanceAccess } from '../access/access.ts';
import { type AuditLog, auditRecord, type AuditTarget } from '../audit/audit-log.ts';
import { auditedFailure, instanceCall, successRecord } from '../audit/audited.ts';
import { makeChange } from '../change/change.ts';
import { checkClusterName, checkVersion } from '../kernel/checks.ts';
import {
  issuerChange,
  issuerContent,
  refusePrivateAddress,
  type TrustedIssuerInput,
} from '../kernel/issuer-content.ts';
import { suspendRefusedTokens } from './end-tokens.ts';

/** What an instance admin says of a remote cluster: who signs its ServiceAccount tokens, and whose token counts. */
export interface RegisterCluster extends Omit<TrustedIssuerInput, 'preset' | 'maxAgeSeconds'> {
  /** The claim `sub` of the controller's ServiceAccount. */
  readonly subject: string;
  /** Of the namespace kube-system. Null lets the next controller that leads give it; undefined leaves it as it is. */
  readonly uid?: string | null | undefined;
  /** Whether a home cluster may become a remote one. */
  readonly fromHome?: boolean | undefined;
  /** The version that the registration must be at; 0 requires that there is none. */
  readonly expectedVersion?: number | undefined;
}

export interface ClusterRegistrationsDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'recordFailure'>;
  /** Whether keys may be fetched from private addresses too; false by default. */
  readonly allowsPrivateUrls?: boolean | undefined;
}

type UpdateAccess = InstanceAccess<'cluster.update'>;

/** What a registration was before, and what it is to be. */
interface Change {
  readonly cluster: string;
  readonly served: ServedClusterRecord | undefined;
  readonly registration: RegistrationRecord | undefined;
  readonly issuer: ClusterIssuerRecord | undefined;
  readonly content: TrustedIssuerContent;
  readonly subject: string;
  readonly uid: string | null;
}

/** The remote clusters: how their controllers prove over HTTPS which cluster they are of (docs/clusters.md). */
export class ClusterRegistrations {
  readonly #deps: ClusterRegistrationsDeps;

  constructor(deps: ClusterRegistrationsDeps) {
    this.#deps = deps;
  }

  /**
   * Registers a remote cluster, or changes its registration. If other tokens may prove it from now on, its issuer gets a new
   * generation: organizations that forbid impersonation must accept it, and each organization that allows the cluster
   * something gets an audit entry. A home cluster becomes a remote one only with `fromHome`: its tokens that no rule covers
   * are suspended then. Throws DomainError invalid_input, version_mismatch, and conflict for a home cluster.
   */
  async set(
    access: UpdateAccess,
    cluster: string,
    { expectedVersion, fromHome = false, subject, uid, ...issuer }: RegisterCluster,
  ): Promise<ServedClusterRecord> {
    return auditedFailure(this.#deps.audit, instanceCall(access), async (note) => {
      checkClusterName('name', cluster);
      note({ cluster });
      if (expectedVersion !== undefined) checkVersion('expectedVersion', expectedVersion, 0);
      refuse('subject', validateSubject(subject));
      if (typeof uid === 'string') refuse('uid', validateClusterUid(uid));
      const content = issuerContent({ ...issuer, preset: 'kubernetes' });
      if (this.#deps.allowsPrivateUrls !== true) refusePrivateAddress(content);
      const { record, mayHaveLess } = await makeChange(this.#deps, access, async (tx) => {
        const before = await lockForChange(tx, cluster);
        checkExpected(cluster, before.registration, expectedVersion);
        if (before.served?.isHome === true && !fromHome) throw homeCluster(cluster);
        const kept = before.registration?.uid ?? null;
        return register(tx, access, { cluster, ...before, content, subject, uid: uid === undefined ? kept : uid });
      });
      if (mayHaveLess) await suspendRefusedTokens(this.#deps, access, { cluster, organizationId: null });
      return record;
    });
  }
}

async function lockForChange(
  tx: Transaction,
  cluster: string,
): Promise<Pick<Change, 'served' | 'registration' | 'issuer'>> {
  const issuer = await lockClusterIssuer(tx, cluster);
  const known = await readServedCluster(tx, cluster);
  await lockCluster(tx, cluster);
  // Locking makes the row of a cluster that is not known, as one of a home cluster.
  const served = known === undefined ? undefined : await readServedCluster(tx, cluster);
  return { served, registration: await findRegistration(tx, cluster), issuer };
}

/** Writes a registration. `mayHaveLess`: whether tokens of the cluster may be refused from now on. */
async function register(tx: Transaction, access: UpdateAccess, change: Change) {
  const { cluster, served, registration, subject, uid } = change;
  const { issuerId, changed: issuerFields, newGeneration } = await putIssuer(tx, change);
  const changed = [...issuerFields, ...changedFields(change)];
  if (changed.length > 0) await putRegistration(tx, { cluster, issuerId, subject, uid });
  if (newGeneration !== null) await recordNewGeneration(tx, access, { cluster, generation: newGeneration });
  const record = await readServedCluster(tx, cluster);
  if (record === undefined) throw new Error('a cluster that was registered does not exist');
  // Streams end that were opened with what proved the cluster before.
  if (changed.length > 0) await notifyCluster(tx, record, record.state);
  const wasHome = served?.isHome === true;
  const call = { ...instanceCall(access), action: registration === undefined ? 'cluster.create' : 'cluster.update' };
  const audit = successRecord(call, {
    ...auditedRegistration(record),
    changed,
    ...(wasHome ? { fromHome: true } : {}),
  });
  return { result: { record, mayHaveLess: wasHome || newGeneration !== null }, audit };
}

/** What a change sets besides the issuer. A first registration has a subject that there was not. */
function changedFields({ registration, subject, uid }: Change): readonly string[] {
  const before = { subject: registration?.subject, uid: registration?.uid ?? null };
  return [...(before.subject === subject ? [] : ['subject']), ...(before.uid === uid ? [] : ['uid'])];
}

function auditedRegistration({ name: cluster, registration }: ServedClusterRecord): AuditTarget {
  if (registration === null) throw new Error('a cluster that was registered has no registration');
  const { subject, uid, generation, version } = registration;
  return { cluster, subject, uid, generation, version };
}

async function putIssuer(
  tx: Transaction,
  { cluster, issuer, content }: Change,
): Promise<{ readonly issuerId: string; readonly changed: readonly string[]; readonly newGeneration: number | null }> {
  if (issuer === undefined) {
    const issuerId = randomUUID();
    await insertTrustedIssuer(tx, { id: issuerId, name: null, cluster }, content);
    const changed = Object.entries(content).flatMap(([field, value]) => (value === null ? [] : [field]));
    return { issuerId, changed, newGeneration: null };
  }
  const { changed, isNewGeneration, replacesKeys } = issuerChange(issuer, content);
  if (changed.length > 0) await updateTrustedIssuer(tx, issuer, content, { isNewGeneration, replacesKeys });
  return { issuerId: issuer.id, changed, newGeneration: isNewGeneration ? issuer.generation + 1 : null };
}

/** Lets rules that must be accepted again count no more, and audits it in each organization that allows something. */
async function recordNewGeneration(
  tx: Transaction,
  { caller, action }: UpdateAccess,
  { cluster, generation }: { readonly cluster: string; readonly generation: number },
): Promise<void> {
  const organizations = await listAllowingOrganizations(tx, cluster);
  for (const rules of await outdateRules(tx, cluster)) await notifyClusterRules(tx, rules);
  await appendAudits(
    tx,
    organizations.map((organizationId) =>
      auditRecord(caller, { organizationId, action, target: { cluster, generation } }),
    ),
  );
}

function checkExpected(
  cluster: string,
  registration: RegistrationRecord | undefined,
  expected: number | undefined,
): void {
  const version = registration?.version ?? 0;
  if (expected === undefined || expected === version) return;
  throw new DomainError(
    'version_mismatch',
    registration === undefined
      ? `cluster ${cluster} is not registered; to register it, repeat the change with expectedVersion 0`
      : `the registration of cluster ${cluster} is at version ${version}; read it, and repeat the change with that version`,
  );
}

function homeCluster(cluster: string): DomainError {
  return new DomainError(
    'conflict',
    `${cluster} is a home cluster: organizations without rules for it let it do what its AccessGrants allow. As a remote one it ` +
      `may do only what their rules allow; if it should become one, repeat the change with fromHome (\`keyframe cluster create ${cluster} --from-home\`)`,
  );
}

function refuse(field: string, message: string | undefined): void {
  if (message !== undefined) throw invalidField(field, message);
}
