import { DomainError } from '../../domain/errors/domain-error.ts';
import { holdUsers, type TargetIds } from '../../store/access.ts';
import {
  holdTenant,
  lockForDeletion,
  markDeleted,
  notifyDeletion,
  type Tenant,
  type TenantSlugs,
} from '../../store/deletion.ts';
import { withdrawInvitationsWithin } from '../../store/invitations.ts';
import { purge } from '../../store/purge.ts';
import type { EnvironmentAccess, InstanceAccess, OrganizationAccess, ProjectAccess } from '../access/access.ts';
import type { AuditTarget } from '../audit/audit-log.ts';
import { auditedFailure, successRecord } from '../audit/audited.ts';
import { checkSlug } from '../kernel/checks.ts';
import type { Transaction } from '../../store/transaction.ts';
import { makeChange, changeJudgedFirst } from '../change/change.ts';
import type { Changed } from '../kernel/changed.ts';
import type { TenancyDeps } from './tenancy-deps.ts';
import { placeOf } from '../access/refusals.ts';

/** Deletion and purge of organizations, projects and environments (docs/interface.md 4, "Further routes"). */

type DeleteAccess =
  OrganizationAccess<'organization.delete'> | ProjectAccess<'project.delete'> | EnvironmentAccess<'environment.delete'>;

/**
 * Deletes what `target` names, softly: its rows stay and its slug stays taken, until the purge. Tokens tied to it or to
 * something beneath it stop working from the next request on, invitations to it are withdrawn, and every listener is
 * notified. A write under way
 * beneath it is committed before, or refused.
 */
export async function deleteTenant(deps: TenancyDeps, access: DeleteAccess, target: TargetIds): Promise<void> {
  await auditedFailure(deps.audit, access, () =>
    changeJudgedFirst(deps, access, {
      async lock(tx) {
        await holdUsers(tx, [access.caller.principal.id]);
        await lockForDeletion(tx, target);
      },
      async change(tx) {
        await markDeleted(tx, target);
        const invitations = await withdrawInvitationsWithin(tx, target);
        await notifyDeletion(tx, target);
        const { projectId, environmentId } = target;
        const id = environmentId ?? projectId;
        const ids = id === undefined ? {} : environmentId === undefined ? { projectId: id } : { environmentId: id };
        return {
          result: undefined,
          audit: successRecord(access, { ...ids, ...(invitations > 0 ? { invitations } : {}) }),
        };
      },
    }),
  );
}

// A million versions take less than a minute; nothing waits for the rows meanwhile.
const purgeTimeoutMs = 15 * 60_000;

type PurgeAccess = InstanceAccess<'organization.purge' | 'project.purge' | 'environment.purge'>;

/**
 * Removes for good what was deleted, with everything beneath it: values, history, snapshots, tokens, memberships, and
 * with a project its data keys. The slug is free again; the audit stays. Throws DomainError not_found, and conflict for
 * what is not deleted itself.
 */
export async function purgeTenant(deps: TenancyDeps, access: PurgeAccess, slugs: TenantSlugs): Promise<void> {
  const { caller, action } = access;
  const call = { caller, organizationId: null, action, target: {} };
  await auditedFailure(deps.audit, call, async (note) => {
    for (const [field, slug] of Object.entries(slugs)) checkSlug(field, slug);
    note({ ...slugs });
    const work = async (tx: Transaction): Promise<Changed<undefined>> => {
      const target = await holdTenant(tx, slugs);
      if (target === undefined) throw absent(slugs);
      refuseLive(slugs, target);
      await purge(tx, target);
      const { organizationId } = target;
      const audited = { ...slugs, ...auditedIds(target) };
      return { result: undefined, audit: successRecord({ ...call, organizationId, target: audited }) };
    };
    await makeChange(deps, access, work, purgeTimeoutMs);
  });
}

/** Throws DomainError conflict, saying what to do, if the thing itself is not deleted. */
function refuseLive(slugs: TenantSlugs, target: Tenant): void {
  const levels = levelsOf(slugs, target);
  if (levels.at(-1)?.isDeleted === true) return;
  const above = levels.find(({ isDeleted }) => isDeleted);
  const place = placeOf(slugs);
  throw new DomainError(
    'conflict',
    above === undefined
      ? `${place} is not deleted; delete it first`
      : `${place} is not deleted itself, but the ${above.name} ${above.slug} above it is; purge that`,
  );
}

/** DomainError not_found for what no slug stands for, or what was purged meanwhile. */
export function absent(slugs: TenantSlugs): DomainError {
  return new DomainError('not_found', `${placeOf(slugs)} does not exist, deleted or not`);
}

/** A level of the tree, from the organization down to the thing itself. */
interface Level {
  readonly name: keyof TenantSlugs;
  readonly slug: string;
  readonly isDeleted: boolean;
}

export function levelsOf({ organization, project, environment }: TenantSlugs, target: Tenant): readonly Level[] {
  const levels = [
    { name: 'organization', slug: organization, isDeleted: target.organizationDeleted },
    { name: 'project', slug: project, isDeleted: target.projectDeleted },
    { name: 'environment', slug: environment, isDeleted: target.environmentDeleted },
  ] as const;
  return levels.flatMap(({ slug, ...level }) => (slug === undefined ? [] : [{ ...level, slug }]));
}

/** The ids of what lies in the organization, as the audit records them. */
export function auditedIds({ projectId, environmentId }: TargetIds): AuditTarget {
  return {
    ...(projectId === undefined ? {} : { projectId }),
    ...(environmentId === undefined ? {} : { environmentId }),
  };
}
