import { appendAudits } from '../../store/audit.ts';
import { notifyUsers } from '../../store/notify.ts';
import { endSessionsOfLinksBy } from '../../store/sessions.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { UserRecord } from '../../store/users.ts';
import type { InstanceAccess } from '../access/access.ts';
import { instanceCall, successRecord } from '../audit/audited.ts';
import type { EndedSignIn } from './end-foreign-sign-ins.ts';
import { auditInOrganizations } from '../tokens/issue-personal-token.ts';

/**
 * Ends the sessions of other users that began with links of a user, who has seen the links; returns how many. The session of
 * the request stays. What was set up in the sessions stays: users set up their own ways to sign in there. `since`: only links
 * that were created from then on; null for all. Audits each end. Lock the creator before, so that no link is spent meanwhile.
 */
export async function endSessionsOfLinks(
  tx: Transaction,
  access: InstanceAccess<'user.update'>,
  { id: createdById, email: createdByEmail }: Pick<UserRecord, 'id' | 'email'>,
  since: Date | null,
): Promise<number> {
  const keptId = access.caller.principal.credentialId;
  const ended = await endSessionsOfLinksBy(tx, createdById, { since, keptId });
  for (const { id: sessionId, userId, email } of ended) {
    const target = { userId, email, createdById, createdByEmail, sessionId };
    await auditEnded(tx, access, userId, [{ action: 'session.end', target }]);
  }
  return ended.length;
}

/** Notifies that ways to sign in as a user ended, and audits each in the instance and in the organizations of the user. */
export async function auditEnded(
  tx: Transaction,
  access: InstanceAccess<'user.update'>,
  userId: string,
  ended: readonly EndedSignIn[],
): Promise<void> {
  if (ended.length === 0) return;
  await notifyUsers(tx, [userId]);
  const call = instanceCall(access);
  const records = ended.map(({ action, target }) => successRecord({ ...call, action }, target));
  await appendAudits(tx, records);
  for (const record of records) await auditInOrganizations(tx, record, userId);
}
