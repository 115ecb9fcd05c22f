import { DomainError } from '../../domain/errors/domain-error.ts';
import { holdUsers } from '../../store/access.ts';
import {
  endTokens,
  holdTenant,
  notifyUndeletion,
  type Tenant,
  type TenantSlugs,
  unmarkDeleted,
} from '../../store/deletion.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { EnvironmentAccess, InstanceAccess, ProjectAccess } from '../access/access.ts';
import type { AuditTarget } from '../audit/audit-log.ts';
import { type AuditedCall, auditedFailure, successRecord } from '../audit/audited.ts';
import { checkSlug } from '../kernel/checks.ts';
import { changeJudgedFirst } from '../change/change.ts';
import type { TenancyDeps } from './tenancy-deps.ts';
import { absent, auditedIds, levelsOf } from './tenant-deletion.ts';

/** Taking back the deletion of an organization, a project or an environment (docs/interface.md 4, "Further routes"). */

type UndeleteAccess =
  | InstanceAccess<'organization.undelete'>
  | ProjectAccess<'project.undelete'>
  | EnvironmentAccess<'environment.undelete'>;

/**
 * Takes the deletion of what `slugs` name back, and returns what `read` finds of it: it is as it was, with everything
 * beneath it that was not deleted itself. No secret string becomes valid again: the service tokens tied to it or to
 * something beneath it end in the same transaction (`endTokens`). If it is not deleted, nothing changes. Throws
 * DomainError conflict if something above it is deleted, and not_found.
 */
export async function undeleteTenant<Record extends object>(
  deps: TenancyDeps,
  access: UndeleteAccess,
  slugs: TenantSlugs,
  read: (tx: Transaction, tenant: Tenant) => Promise<Record | undefined>,
): Promise<Record> {
  const { caller, action } = access;
  const call: AuditedCall = 'target' in access ? access : { caller, action, organizationId: null, target: {} };
  return auditedFailure(deps.audit, call, async (note) => {
    for (const [field, slug] of Object.entries(slugs)) checkSlug(field, slug);
    note({ ...slugs });
    let held: Tenant | undefined;
    return changeJudgedFirst(deps, access, {
      async lock(tx) {
        await holdUsers(tx, [caller.principal.id]);
        held = await holdTenant(tx, slugs);
      },
      async change(tx) {
        if (held === undefined) throw absent(slugs);
        const changes = await undelete(tx, slugs, held);
        const result = await read(tx, held);
        if (result === undefined) throw absent(slugs);
        const { organizationId } = held;
        const target = { ...slugs, ...auditedIds(held), ...changes };
        return { result, audit: successRecord({ caller, action, organizationId, target }) };
      },
    });
  });
}

/** Returns what the audit says of it. */
async function undelete(tx: Transaction, slugs: TenantSlugs, tenant: Tenant): Promise<AuditTarget> {
  const levels = levelsOf(slugs, tenant);
  const above = levels.slice(0, -1).findIndex(({ isDeleted }) => isDeleted);
  if (above !== -1) throw deletedAbove(slugs, above);
  if (levels.at(-1)?.isDeleted !== true) return { changed: false };
  await unmarkDeleted(tx, tenant);
  await notifyUndeletion(tx, tenant);
  return { ...(await endTokens(tx, tenant)) };
}

function deletedAbove(slugs: TenantSlugs, above: number): DomainError {
  const { organization, project = '' } = slugs;
  const parent: TenantSlugs = above === 0 ? { organization } : { organization, project };
  const what = above === 0 ? `organization ${organization}` : `project ${project}`;
  return new DomainError(
    'conflict',
    `the ${what} above it is deleted; undelete that first: \`${undeleteCommand(parent)}\``,
  );
}

/** The command that undeletes what the slugs name. */
export function undeleteCommand({ organization, project, environment }: TenantSlugs): string {
  if (project === undefined) return `keyframe org undelete ${organization}`;
  if (environment === undefined) return `keyframe project undelete ${project} -o ${organization}`;
  return `keyframe env undelete ${environment} -o ${organization} -p ${project}`;
}
