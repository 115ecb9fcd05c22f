import { appendAudits } from '../../store/audit.ts';
import { notifyUser } from '../../store/notify.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { UserRecord } from '../../store/users.ts';
import type { InstanceAccess } from '../access/access.ts';
import { instanceCall, successRecord } from '../audit/audited.ts';
import { endSignInsBy } from '../sign-in/end-foreign-sign-ins.ts';
import { auditInOrganizations } from '../tokens/issue-personal-token.ts';

/**
 * Ends the ways to sign in as other instance admins that go back to a user whom the caller disables or demotes, and with
 * which that user could undo it; returns how many. The credential of the request stays, so that the caller is not locked out.
 * A user who steps down ends nothing: that might leave no instance admin who can sign in. Those of users who are no instance admins
 * stay, because most first tokens go back to an instance admin. Audits each end. Lock the instance admins before.
 */
export async function endSignInsOfAdminsBy(
  tx: Transaction,
  access: InstanceAccess<'user.update'>,
  { departedId, admins }: { readonly departedId: string; readonly admins: readonly UserRecord[] },
): Promise<number> {
  const { principal } = access.caller;
  if (principal.id === departedId) return 0;
  const by = { creatorId: departedId, keptCredentialId: principal.credentialId };
  let count = 0;
  for (const admin of admins) {
    const ended = await endSignInsBy(tx, admin, by);
    if (ended.length > 0) await notifyUser(tx, admin.id);
    const call = instanceCall(access);
    const records = ended.map(({ action, target }) => successRecord({ ...call, action }, target));
    await appendAudits(tx, records);
    for (const record of records) await auditInOrganizations(tx, record, admin.id);
    count += ended.length;
  }
  return count;
}
