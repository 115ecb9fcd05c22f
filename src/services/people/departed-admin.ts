import { endCreatedSignInLinks } from '../../store/sign-in-links.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { UserRecord } from '../../store/users.ts';
import type { InstanceAccess } from '../access/access.ts';
import type { AuditTarget } from '../audit/audit-log.ts';
import { endSignInsBy } from '../sign-in/end-foreign-sign-ins.ts';
import { auditEnded, endSessionsOfLinks } from './link-sessions.ts';

/** A user who may hold what this user created: the one who departs, or an admin as whom that one could act. */
interface Creator extends Pick<UserRecord, 'id' | 'email'> {
  /** Since when the one who departs could act as this user; null for always. */
  readonly since: Date | null;
}

/**
 * Ends the ways to sign in as other users that a user may hold whom the caller disables or demotes. Returns how many, for the
 * audit:
 *
 * - `signInsOfAdmins`: those as other instance admins, with which that user could undo it. Those of users who are no instance
 *   admins stay, because most first tokens go back to an instance admin.
 * - `sessionsOfLinks`: sessions of all other users that began with links of the user.
 * - `createdLinks`: unused links of those instance admins as whom the user could act.
 *
 * What was created as another instance admin while the user could act as that one counts as created by the user. The
 * credential of the request stays, so that the caller is not locked out. A user who steps down ends nothing: that might leave
 * no instance admin who can sign in. Audits each end of a way to sign in. Lock the user and the instance admins before.
 */
export async function endSignInsOfDeparted(
  tx: Transaction,
  access: InstanceAccess<'user.update'>,
  { departed, admins }: { readonly departed: UserRecord; readonly admins: readonly UserRecord[] },
): Promise<AuditTarget> {
  if (access.caller.principal.id === departed.id) return {};
  const others = admins.filter(({ id }) => id !== departed.id);
  const creators: Creator[] = [{ id: departed.id, email: departed.email, since: null }];
  let signInsOfAdmins = 0;
  // It grows in the loop, and ends: an admin is added again only with an earlier time.
  for (const creator of creators) {
    for (const admin of others) {
      const ended = await endAsAdmin(tx, access, admin, creator);
      signInsOfAdmins += ended.count;
      if (ended.since !== null && !isCovered(creators, admin.id, ended.since)) {
        creators.push({ id: admin.id, email: admin.email, since: ended.since });
      }
    }
  }
  let sessionsOfLinks = 0;
  for (const creator of creators) sessionsOfLinks += await endSessionsOfLinks(tx, access, creator, creator.since);
  let createdLinks = 0;
  for (const { id } of creators.slice(1)) createdLinks += await endCreatedSignInLinks(tx, id);
  return countsAbove0({ signInsOfAdmins, sessionsOfLinks, createdLinks });
}

/** The counts that are not 0. */
export function countsAbove0(counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

interface EndedAsAdmin {
  readonly count: number;
  /** Since when the creator could act as the admin; null for never. */
  readonly since: Date | null;
}

async function endAsAdmin(
  tx: Transaction,
  access: InstanceAccess<'user.update'>,
  admin: UserRecord,
  { id: creatorId, since }: Creator,
): Promise<EndedAsAdmin> {
  const keptCredentialId = access.caller.principal.credentialId;
  const ended = await endSignInsBy(tx, admin, { creatorId, since, keptCredentialId });
  await auditEnded(tx, access, admin.id, ended);
  const times = ended.map(({ createdAt }) => createdAt.getTime());
  return { count: ended.length, since: times.length === 0 ? null : new Date(Math.min(...times)) };
}

/** Whether what an admin created since a time is looked for anyway. */
function isCovered(creators: readonly Creator[], adminId: string, since: Date): boolean {
  return creators.some((known) => known.id === adminId && (known.since === null || known.since <= since));
}
