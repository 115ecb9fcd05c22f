import { DomainError } from '../../domain/errors/domain-error.ts';
import type { Transaction } from '../../store/transaction.ts';
import * as store from '../../store/users.ts';
import type { InstanceAccess } from '../access/access.ts';
import { requireRecentSignIn } from '../access/refusals.ts';
import { refuseForeignCreator } from '../provenance/foreign-creator.ts';
import { refuseForeignSignIns } from '../provenance/foreign-sign-in-refusal.ts';

/** Why a change of a user is refused. */

// So that the text stays readable.
const namedOrganizations = 20;

/** Whether a change takes rights from a user: disables the user, or leaves no instance admin. */
export function isDeparture({ instanceAdmin, disabled }: store.UserChanges): boolean {
  return disabled === true || instanceAdmin === false;
}

/**
 * Throws DomainError for a change of what a user may do:
 * - recent_sign_in_required for an instance admin, a user who is enabled, and another address
 * - forbidden for more rights, if the credential in use descends from another user who is no instance admin
 * - conflict for the last instance admin, and for a new one if another user holds a credential of that user
 */
export async function refuseRights(
  tx: Transaction,
  access: InstanceAccess<'user.update'>,
  { before, changes }: { readonly before: store.UserRecord; readonly changes: store.UserChanges },
): Promise<void> {
  const { principal } = access.caller;
  if (changes.instanceAdmin === true) requireRecentSignIn(access, 'making an instance admin');
  if (changes.disabled === false) requireRecentSignIn(access, 'enabling a user');
  if (changes.email !== undefined) requireRecentSignIn(access, 'giving a user another e-mail address');
  const isNewAdmin = !before.instanceAdmin && changes.instanceAdmin === true;
  const isEnabled = before.disabledAt !== null && changes.disabled === false;
  if (isNewAdmin || isEnabled) await refuseForeignCreator(tx, principal);
  if (isDeparture(changes)) await keepInstanceAdmin(tx, before);
  const { id: userId, email } = before;
  if (isNewAdmin) await refuseForeignSignIns(tx, { userId, email, what: 'the right of an instance admin' });
}

/** Throws DomainError conflict if the user is the last instance admin who is not disabled. */
async function keepInstanceAdmin(tx: Transaction, user: store.UserRecord): Promise<void> {
  if (!user.instanceAdmin || user.disabledAt !== null || (await store.hasOtherInstanceAdmin(tx, user.id))) return;
  throw new DomainError(
    'conflict',
    `${user.email} is the last instance admin who is not disabled; make another user one first`,
  );
}

/** Throws DomainError conflict for a user who is not disabled, and for an address that another user has. */
export async function checkNewEmail(
  tx: Transaction,
  { id, email: former, disabledAt }: store.UserRecord,
  email: string,
): Promise<void> {
  if (disabledAt === null) {
    throw new DomainError(
      'conflict',
      `${former} is not disabled, and only a disabled user gets another e-mail address`,
    );
  }
  if (await store.isEmailTaken(tx, email, id)) throw emailTaken(email);
}

/** DomainError conflict for an e-mail address that a user has. */
export function emailTaken(email: string): DomainError {
  return new DomainError('conflict', `${email} is the e-mail address of a user already, maybe a disabled one`);
}

/** DomainError conflict for a user without whom organizations have no owner who is not disabled. */
export function onlyOwner({ email, id }: store.UserRecord, owned: readonly store.OwnedOrganization[]): DomainError {
  const slugs = owned.slice(0, namedOrganizations).map(({ slug }) => slug);
  const more = owned.length > namedOrganizations ? ` and ${owned.length - namedOrganizations} more` : '';
  return new DomainError(
    'conflict',
    `${email} is the only owner who is not disabled of ${slugs.join(', ')}${more}; make another member an owner there, ` +
      `disable the user with force and appoint an owner then, or end the user's tokens, sessions, passkeys and ` +
      `sign-in link with DELETE /api/v1/users/${id}/personal-tokens`,
  );
}
