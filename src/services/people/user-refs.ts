import { DomainError, invalidField } from '../../domain/errors/domain-error.ts';
import { validateEmail } from '../../domain/names.ts';
import type { UserRef } from '../../store/members.ts';
import type { Database } from '../../store/database.ts';
import { findUser } from '../../store/users.ts';
import type { AuditTarget } from '../audit/audit-log.ts';
import { checkUuid } from '../kernel/checks.ts';

/** How requests name a user: by id or by e-mail address. */

/** Throws DomainError invalid_input for what is neither a UUID nor an e-mail address in lower case. */
export function checkUserRef(ref: UserRef, field = 'user'): void {
  if ('id' in ref) return checkUuid(field, ref.id);
  const message = ref.email === ref.email.toLowerCase() ? validateEmail(ref.email) : 'must be in lower case';
  if (message !== undefined) throw invalidField(field, message);
}

/** What the audit records of the named user before it is looked up. */
export function noteOfUser(ref: UserRef): AuditTarget {
  return 'id' in ref ? { userId: ref.id } : { email: ref.email };
}

/** DomainError not_found for a user that does not exist. */
export function noSuchUser(ref: UserRef): DomainError {
  return new DomainError('not_found', `there is no user ${textOfUser(ref)}; an instance admin makes users`);
}

export function textOfUser(ref: UserRef): string {
  return 'id' in ref ? ref.id : ref.email;
}

/** Throws DomainError invalid_input for what is no UUID, and not_found for an id that no user has. */
export async function checkUser(pool: Database['pool'], id: string): Promise<void> {
  checkUuid('id', id);
  if ((await findUser(pool, id)) === undefined) throw absentUser(id);
}

/** DomainError not_found for an id that no user has. */
export function absentUser(id: string): DomainError {
  return new DomainError('not_found', `there is no user ${id}`);
}
