import { DomainError, invalidField } from '../../domain/errors/domain-error.ts';
import { validateEmail } from '../../domain/names.ts';
import type { FirstOwnersInput } from '../../domain/resources/environments.ts';
import { holdUsers } from '../../store/access.ts';
import { appendAudit } from '../../store/audit.ts';
import type { Database } from '../../store/database.ts';
import { countOwners, findCandidate, findUserId, lockMembersOf } from '../../store/members.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { AuditLog, AuditRecord } from '../audit/audit-log.ts';
import { type AuditedCall, auditedFailure, successRecord } from '../audit/audited.ts';
import { changeJudgedFirst } from '../change/change.ts';
import { checkSlug } from '../kernel/checks.ts';
import { makeOwner } from '../people/members.ts';
import { deletedMeanwhile } from '../tenancy/organizations.ts';
import type { OwnAccess } from './access.ts';

export interface FirstOwnersDeps {
  readonly database: Pick<Database, 'transactionPool'>;
  readonly audit: Pick<AuditLog, 'recordFailure'>;
}

/**
 * Appoints all of these users owners of an organization that has none, or none of them; an organization that has an owner
 * stays as it is. Throws DomainError invalid_input for what is no address, not_found for users who do not exist or are
 * disabled, and conflict for a user as whom others can sign in (`refuseForeignSignIns`).
 */
export async function appointFirstOwners(
  deps: FirstOwnersDeps,
  access: OwnAccess<'environment.create'>,
  { organization, owners }: FirstOwnersInput,
): Promise<void> {
  const action = 'organization.appoint_owner';
  const call: AuditedCall = { caller: access.caller, organizationId: null, action, target: {} };
  await auditedFailure(deps.audit, call, async (note) => {
    checkSlug('organization', organization);
    for (const owner of owners) checkAddress(owner);
    note({ organization, owners: [...owners] });
    let organizationId: string;
    let users: ReadonlyMap<string, string>;
    await changeJudgedFirst(deps, access, {
      async lock(tx) {
        users = await usersOf(tx, owners);
        await holdUsers(tx, [...users.values()]);
        const locked = await lockMembersOf(tx, organization);
        if (locked === undefined) throw deletedMeanwhile('organization');
        organizationId = locked;
      },
      async change(tx) {
        if ((await countOwners(tx, organizationId, null)) > 0) return { result: undefined, audit: null };
        await refuseUnusable(tx, { organizationId, owners, users });
        const records: AuditRecord[] = [];
        for (const id of users.values()) {
          const made = await makeOwner(tx, organizationId, id);
          if (made === undefined) continue;
          records.push(successRecord({ ...call, organizationId, target: { organization, ...made.target } }));
        }
        const last = records.pop() ?? null;
        for (const record of records) await appendAudit(tx, record);
        return { result: undefined, audit: last };
      },
    });
  });
}

/** The ids of those who exist, by address. */
async function usersOf(tx: Transaction, owners: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const users = new Map<string, string>();
  for (const email of owners) {
    const id = await findUserId(tx, { email });
    if (id !== undefined) users.set(email, id);
  }
  return users;
}

interface Wanted extends Pick<FirstOwnersInput, 'owners'> {
  readonly organizationId: string;
  readonly users: ReadonlyMap<string, string>;
}

async function refuseUnusable(tx: Transaction, { organizationId, owners, users }: Wanted): Promise<void> {
  const unusable: string[] = [];
  for (const email of owners) {
    const id = users.get(email);
    const user = id === undefined ? undefined : await findCandidate(tx, organizationId, id);
    if (user === undefined || user.isDisabled) unusable.push(email);
  }
  if (unusable.length === 0) return;
  throw new DomainError(
    'not_found',
    `these users do not exist or are disabled, so no owner is appointed: ${unusable.join(', ')}; ` +
      'an instance admin creates or enables users. Or name others in spec.owners',
  );
}

function checkAddress(owner: string): void {
  const message = owner === owner.toLowerCase() ? validateEmail(owner) : 'must be in lower case';
  if (message !== undefined) throw invalidField('owners', message);
}
