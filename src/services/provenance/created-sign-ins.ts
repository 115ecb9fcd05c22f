import { endCreatedSignInLinks, keepSessionOfLink } from '../../store/sign-in-links.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { UserRecord } from '../../store/users.ts';
import type { InstanceAccess } from '../access/access.ts';
import { endSignInsBy } from './end-foreign-sign-ins.ts';
import { auditEnded, endSessionsOfLinks } from './link-sessions.ts';

/** A user whose creations end: the one whom it is about, or an admin as whom that one could act. */
interface Creator extends Pick<UserRecord, 'id' | 'email'> {
  /** Since when that one could act as this user; null for always. */
  readonly since: Date | null;
}

/** How many ended, for the audit. */
export interface EndedCreations {
  /** Ways to sign in as other instance admins. */
  readonly signInsOfAdmins: number;
  /** Sessions of other users that began with links of the user. */
  readonly sessionsOfLinks: number;
  /** Unused links of those instance admins as whom the user could act. */
  readonly createdLinks: number;
}

/**
 * Ends the ways to sign in as others that go back to a user who departs, or whose credentials another person has: those as the
 * given instance admins, with which the person could undo what the caller does, and the sessions of links, as any user. Other
 * ways of users who are no instance admins stay, because most first tokens go back to an instance admin. What was created as
 * another instance admin while the user could act as that one counts as created by the user. The credential of the request
 * stays, so that the caller is not locked out. Audits each end of a way to sign in. Lock the user and the instance admins
 * before.
 */
export async function endCreatedSignIns(
  tx: Transaction,
  access: InstanceAccess<'user.update'>,
  { user, admins }: { readonly user: UserRecord; readonly admins: readonly UserRecord[] },
): Promise<EndedCreations> {
  const others = admins.filter(({ id }) => id !== user.id);
  const creators: Creator[] = [{ id: user.id, email: user.email, since: null }];
  const { id: callerId, credentialId } = access.caller.principal;
  // With a credential that goes back to a user who is no instance admin, the caller created nothing for others.
  const chained = isActiveAdmin(user) ? others : others.filter(({ id }) => id !== callerId);
  let signInsOfAdmins = 0;
  // It grows in the loop, and ends: an admin is added again only with an earlier time.
  for (const creator of creators) {
    for (const admin of others) {
      const { ended, since } = await endSignInsBy(tx, admin, {
        creatorId: creator.id,
        since: creator.since,
        credentialId,
      });
      await auditEnded(tx, access, admin.id, ended);
      signInsOfAdmins += ended.length;
      if (since !== null && chained.includes(admin) && !isCovered(creators, admin.id, since)) {
        creators.push({ id: admin.id, email: admin.email, since });
      }
    }
  }
  let sessionsOfLinks = 0;
  for (const creator of creators) sessionsOfLinks += await endSessionsOfLinks(tx, access, creator, creator.since);
  let createdLinks = 0;
  for (const { id } of creators.slice(1)) createdLinks += await endCreatedSignInLinks(tx, id);
  await keepSessionOfLink(tx, credentialId);
  return { signInsOfAdmins, sessionsOfLinks, createdLinks };
}

function isActiveAdmin({ instanceAdmin, disabledAt }: UserRecord): boolean {
  return instanceAdmin && disabledAt === null;
}

/** Whether what an admin created since a time is looked for anyway. */
function isCovered(creators: readonly Creator[], adminId: string, since: Date): boolean {
  return creators.some((known) => known.id === adminId && (known.since === null || known.since <= since));
}
