import { DomainError } from '../../domain/errors/domain-error.ts';
import { holdUsers, type TargetIds } from '../../store/access.ts';
import { lockForDeletion, markDeleted, notifyDeletion } from '../../store/deletion.ts';
import { findPurgeTarget, purge, type PurgeSlugs, type PurgeTarget } from '../../store/purge.ts';
import type { EnvironmentAccess, InstanceAccess, OrganizationAccess, ProjectAccess } from '../access/access.ts';
import { auditedFailure, successRecord } from '../audit/audited.ts';
import { checkSlug } from '../kernel/checks.ts';
import type { Transaction } from '../../store/transaction.ts';
import { makeChange, changeJudgedFirst } from '../kernel/change.ts';
import type { Changed } from '../kernel/changed.ts';
import type { TenancyDeps } from './tenancy-deps.ts';
import { placeOf } from '../access/refusals.ts';

/** Deletion and purge of organizations, projects and environments (docs/interface.md 4, "Further routes"). */

type DeleteAccess =
  OrganizationAccess<'organization.delete'> | ProjectAccess<'project.delete'> | EnvironmentAccess<'environment.delete'>;

/**
 * Deletes what `target` names, softly: its rows stay and its slug stays taken, until the purge. Tokens tied to it or to
 * something beneath it stop working from the next request on, and every listener is notified. A write under way
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
        await notifyDeletion(tx, target);
        const { projectId, environmentId } = target;
        const id = environmentId ?? projectId;
        const ids = id === undefined ? {} : environmentId === undefined ? { projectId: id } : { environmentId: id };
        return { result: undefined, audit: successRecord(access, ids) };
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
export async function purgeTenant(deps: TenancyDeps, access: PurgeAccess, slugs: PurgeSlugs): Promise<void> {
  const { caller, action } = access;
  const call = { caller, organizationId: null, action, target: {} };
  await auditedFailure(deps.audit, call, async (note) => {
    for (const [field, slug] of Object.entries(slugs)) checkSlug(field, slug);
    note({ ...slugs });
    const work = async (tx: Transaction): Promise<Changed<undefined>> => {
      const target = await findPurgeTarget(tx, slugs);
      if (target === undefined) throw absent(slugs);
      refuseLive(slugs, target);
      if (!(await purge(tx, target))) throw absent(slugs);
      const { organizationId, projectId, environmentId } = target;
      const ids = {
        ...(projectId === undefined ? {} : { projectId }),
        ...(environmentId === undefined ? {} : { environmentId }),
      };
      return { result: undefined, audit: successRecord({ ...call, organizationId, target: { ...slugs, ...ids } }) };
    };
    await makeChange(deps, access, work, purgeTimeoutMs);
  });
}

/** Throws DomainError conflict, saying what to do, if the thing itself is not deleted. */
function refuseLive(slugs: PurgeSlugs, target: PurgeTarget): void {
  const levels = [
    { ...levelOf(slugs, 'organization'), isDeleted: target.organizationDeleted },
    { ...levelOf(slugs, 'project'), isDeleted: target.projectDeleted },
    { ...levelOf(slugs, 'environment'), isDeleted: target.environmentDeleted },
  ].filter(({ slug }) => slug !== undefined);
  const own = levels.at(-1);
  if (own === undefined || own.isDeleted) return;
  const above = levels.find(({ isDeleted }) => isDeleted);
  const place = placeOf(slugs);
  throw new DomainError(
    'conflict',
    above === undefined
      ? `${place} is not deleted; delete it first`
      : `${place} is not deleted itself, but the ${above.name} ${above.slug} above it is; purge that`,
  );
}

function levelOf(slugs: PurgeSlugs, name: keyof PurgeSlugs): { readonly name: string; readonly slug?: string } {
  const slug = slugs[name];
  return slug === undefined ? { name } : { name, slug };
}

function absent(slugs: PurgeSlugs): DomainError {
  return new DomainError('not_found', `${placeOf(slugs)} does not exist, deleted or not`);
}
