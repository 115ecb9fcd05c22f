import { type ForeignSignIn, listForeignSignIns, listSignInsBy, type SignInsBy } from '../../store/foreign-sign-ins.ts';
import { deleteGroups, deleteIdentity, endSessionsOfIdentity } from '../../store/identities.ts';
import { deletePasskey, endSessionsOfPasskey } from '../../store/passkeys.ts';
import { revokePersonalToken } from '../../store/personal-tokens.ts';
import { endSession } from '../../store/sessions.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { UserRecord } from '../../store/users.ts';
import type { AuditRecord, AuditTarget } from '../audit/audit-log.ts';

/** What the audit says of a way to sign in that ended. */
export type EndedSignIn = Pick<AuditRecord, 'action' | 'target'>;

/**
 * Ends the ways to sign in as a user that go back to another user who is no active instance admin, and returns what the
 * audit says of each. Lock the user before, and notify the user after.
 */
export async function endForeignSignIns(tx: Transaction, user: UserRecord): Promise<EndedSignIn[]> {
  return end(tx, user, await listForeignSignIns(tx, user.id));
}

/** What `endSignInsBy` found. */
export interface EndedSignInsBy {
  readonly ended: readonly EndedSignIn[];
  /** Since when the creator could sign in as the user, also with the credential of the request; null for never. */
  readonly since: Date | null;
}

/** Like `endForeignSignIns`, those that `listSignInsBy` finds, except the credential of the request. */
export async function endSignInsBy(tx: Transaction, user: UserRecord, by: SignInsBy): Promise<EndedSignInsBy> {
  const found = await listSignInsBy(tx, user.id, by);
  const ended = await end(
    tx,
    user,
    found.filter(({ isInUse }) => !isInUse),
  );
  const times = found.map(({ createdAt }) => createdAt.getTime());
  return { ended, since: times.length === 0 ? null : new Date(Math.min(...times)) };
}

async function end(
  tx: Transaction,
  { id: userId, email }: UserRecord,
  ways: readonly ForeignSignIn[],
): Promise<EndedSignIn[]> {
  const ended: EndedSignIn[] = [];
  for (const found of ways) {
    const { createdById, createdByEmail } = found;
    const { action, target } = await enders[found.kind](tx, userId, found);
    ended.push({ action, target: { userId, email, createdById, createdByEmail, ...target } });
  }
  return ended;
}

type End = (tx: Transaction, userId: string, found: ForeignSignIn) => Promise<{ action: string; target: AuditTarget }>;

const enders: Readonly<Record<ForeignSignIn['kind'], End>> = {
  async session(tx, userId, { id }) {
    await endSession(tx, userId, id);
    return { action: 'session.end', target: { sessionId: id } };
  },
  async passkey(tx, userId, { id, name }) {
    await endSessionsOfPasskey(tx, userId, id);
    await deletePasskey(tx, userId, id);
    return { action: 'passkey.remove', target: { passkeyId: id, name } };
  },
  async identity(tx, userId, { id, name: issuer }) {
    await endSessionsOfIdentity(tx, userId, id);
    const unlinked = await deleteIdentity(tx, userId, id);
    // The groups came with a sign-in.
    if ((unlinked?.lastSignInAt ?? null) !== null) await deleteGroups(tx, userId);
    return { action: 'identity.unlink', target: { identityId: id, issuer: hostOf(issuer) } };
  },
  async personal_token(tx, userId, { id, name }) {
    await revokePersonalToken(tx, userId, id);
    return { action: 'personal_token.revoke', target: { personalTokenId: id, name } };
  },
};

/** The host of an issuer, because its path may be long. */
function hostOf(issuer: string | null): string {
  return new URL(issuer ?? '').host;
}
