import { randomUUID } from 'node:crypto';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { isOwnToken } from '../../domain/impersonation.ts';
import type { Caller, Role, TokenCreator } from '../../domain/principal.ts';
import { holdUsers } from '../../store/access.ts';
import { listRoleHolderIds, lockMembers } from '../../store/members.ts';
import type { Transaction } from '../../store/transaction.ts';
import { recountRules } from '../../store/cluster-rules.ts';
import { notifyClusterRules, notifyUsers } from '../../store/notify.ts';
import {
  type AdministeredOrganizationRecord,
  findOrganization,
  insertOrganization,
  listEveryOrganization,
  listOrganizationsOfUser,
  type OrganizationRecord,
  renameOrganization,
  setImpersonation,
  readOrganization,
} from '../../store/organizations.ts';
import type { InstanceAccess, OrganizationAccess } from '../access/access.ts';
import { requireRecentSignIn } from '../access/refusals.ts';
import { type AuditedCall, auditedFailure, auditedTokenRead, successRecord } from '../audit/audited.ts';
import { checkName, checkSlug } from '../kernel/checks.ts';
import { makeChange, changeJudgedFirst } from '../change/change.ts';
import type { OrganizationSlugs } from '../../domain/slugs.ts';
import type { TenancyDeps } from './tenancy-deps.ts';
import { deleteTenant, purgeTenant } from './tenant-deletion.ts';
import { undeleteTenant } from './tenant-undeletion.ts';

export type { AdministeredOrganizationRecord, OrganizationRecord } from '../../store/organizations.ts';

/** An organization in the list of organizations. */
export interface ListedOrganization extends OrganizationRecord {
  /** The caller's role; null for a service token. */
  readonly role: Role | null;
}

/** What organizations, projects and environments are created from. */
export interface CreateInput {
  readonly slug: string;
  /** Default the slug. */
  readonly displayName?: string;
}

/** The fields of organizations, projects and environments that can be changed. */
export interface UpdateInput {
  readonly displayName: string;
}

export class Organizations {
  readonly #deps: TenancyDeps;

  constructor(deps: TenancyDeps) {
    this.#deps = deps;
  }

  /**
   * Makes an organization, whose owner is the caller. Throws DomainError conflict for a slug that is taken, also by a
   * deleted organization.
   */
  async create(
    access: InstanceAccess<'organization.create'>,
    { slug, displayName = slug }: CreateInput,
  ): Promise<OrganizationRecord> {
    const { caller, action } = access;
    const call: AuditedCall = { caller, organizationId: null, action, target: {} };
    return auditedFailure(this.#deps.audit, call, async (note) => {
      checkSlug('slug', slug);
      checkName('displayName', displayName);
      note({ organization: slug });
      const id = randomUUID();
      return makeChange(this.#deps, access, async (tx) => {
        const result = await insertOrganization(tx, { id, slug, displayName, ownerId: caller.principal.id });
        if (result === undefined) throw slugTaken('organization', slug);
        const target = { organization: slug, owner: caller.principal.id };
        return { result, audit: successRecord({ ...call, organizationId: id, target }) };
      });
    });
  }

  /** The organizations of a user, or the one of a service token, by slug. */
  async list(caller: Caller): Promise<readonly ListedOrganization[]> {
    const { principal } = caller;
    const organizationId = principal.type === 'service_token' ? principal.organizationId : null;
    const call: AuditedCall = { caller, organizationId, action: 'organization.list', target: {} };
    return auditedTokenRead(this.#deps.audit, call, async () => {
      if (organizationId === null) return listOrganizationsOfUser(this.#deps.database.pool, principal.id);
      const own = await findOrganization(this.#deps.database.pool, organizationId);
      return own === undefined ? [] : [{ ...own, role: null }];
    });
  }

  async get(access: OrganizationAccess<'organization.read'>): Promise<OrganizationRecord> {
    return auditedTokenRead(this.#deps.audit, access, async () => {
      const organization = await findOrganization(this.#deps.database.pool, access.organizationId);
      if (organization === undefined) throw deletedMeanwhile('organization');
      return organization;
    });
  }

  /** Changes the display name. The slug is immutable. */
  async update(
    access: OrganizationAccess<'organization.update'>,
    { displayName }: UpdateInput,
  ): Promise<OrganizationRecord> {
    return auditedFailure(this.#deps.audit, access, async () => {
      checkName('displayName', displayName);
      return makeChange(this.#deps, access, async (tx) => {
        const result = await renameOrganization(tx, access.organizationId, displayName);
        if (result === undefined) throw deletedMeanwhile('organization');
        return { result, audit: successRecord(access, { displayName }) };
      });
    });
  }

  /**
   * Forbids or allows that personal tokens which another person created work here. Forbidding it counts the tokens that
   * the members created until now as their own, whatever they created them with. Throws DomainError conflict for a
   * token that would be refused afterwards: the caller would lock themselves out.
   */
  async setImpersonation(
    access: OrganizationAccess<'organization.set_impersonation'>,
    forbidden: boolean,
  ): Promise<OrganizationRecord> {
    const { organizationId, caller } = access;
    return auditedFailure(this.#deps.audit, access, async () =>
      changeJudgedFirst(this.#deps, access, {
        async lock(tx) {
          await holdUsers(tx, [caller.principal.id]);
          await lockMembers(tx, organizationId);
        },
        async change(tx) {
          if (!forbidden) requireRecentSignIn(access, 'allowing impersonation');
          const creator = caller.principal.type === 'user' ? caller.principal.tokenCreator : null;
          if (forbidden && creator?.derivedAt === null && !isOwnToken(creator, { confirmedAt: null })) {
            throw ownTokenNeeded(creator, access.organization);
          }
          const set = await setImpersonation(tx, organizationId, forbidden);
          if (set === undefined) throw deletedMeanwhile('organization');
          if (set.changed) await notifyOfImpersonation(tx, organizationId);
          const target = { impersonationForbidden: forbidden, ...(set.changed ? {} : { changed: false }) };
          return { result: set.organization, audit: successRecord(access, target) };
        },
      }),
    );
  }

  /** Deletes the organization with all that is in it, as `deleteTenant` does. */
  async delete(access: OrganizationAccess<'organization.delete'>): Promise<void> {
    await deleteTenant(this.#deps, access, { organizationId: access.organizationId });
  }

  /** The organizations that are not deleted, by slug, with their owners: also those without any member. */
  async listAll({
    caller,
  }: InstanceAccess<'organization.list_all'>): Promise<readonly AdministeredOrganizationRecord[]> {
    return listEveryOrganization(this.#deps.database.pool, caller.principal.id, { deleted: false });
  }

  /** The organizations that are deleted and not purged, by slug, with their owners. */
  async listDeleted({
    caller,
  }: InstanceAccess<'organization.list_deleted'>): Promise<readonly AdministeredOrganizationRecord[]> {
    return listEveryOrganization(this.#deps.database.pool, caller.principal.id, { deleted: true });
  }

  /** Takes the deletion of an organization back, as `undeleteTenant` does. */
  async undelete(
    access: InstanceAccess<'organization.undelete'>,
    { organization }: OrganizationSlugs,
  ): Promise<OrganizationRecord> {
    return undeleteTenant(this.#deps, access, { organization }, (tx, { organizationId }) =>
      readOrganization(tx, organizationId),
    );
  }

  /** Removes a deleted organization for good, as `purgeTenant` does. */
  async purge(access: InstanceAccess<'organization.purge'>, { organization }: OrganizationSlugs): Promise<void> {
    await purgeTenant(this.#deps, access, { organization });
  }
}

function ownTokenNeeded({ actor }: TokenCreator, organization: string): DomainError {
  const creator = actor?.name ?? 'a server that recorded no creators';
  return new DomainError(
    'conflict',
    `${creator} created the token that you use, so organization ${organization} would refuse it; create one with ` +
      '`keyframe token create`, sign in with that and try again',
  );
}

/** DomainError conflict for a slug that cannot be used again. */
export function slugTaken(kind: 'organization' | 'project' | 'environment', slug: string): DomainError {
  return new DomainError('conflict', `the slug ${slug} is taken, maybe by a deleted ${kind}; choose another`);
}

/** DomainError not_found for what was deleted a moment ago. */
export function deletedMeanwhile(kind: 'organization' | 'project' | 'environment'): DomainError {
  return new DomainError('not_found', `the ${kind} was deleted meanwhile`);
}

async function notifyOfImpersonation(tx: Transaction, organizationId: string): Promise<void> {
  // Streams that are open with tokens that are refused from now on must end.
  await notifyUsers(tx, await listRoleHolderIds(tx, organizationId));
  // Rules for clusters that were changed since the organization accepted them count now, or count no longer.
  for (const rules of await recountRules(tx, organizationId)) await notifyClusterRules(tx, rules);
}
