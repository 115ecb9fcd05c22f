import { appendAudits } from '../../store/audit.ts';
import { revokeTokens } from '../../store/cluster-tokens.ts';
import type { Database } from '../../store/database.ts';
import { notifyServiceTokens } from '../../store/notify.ts';
import {
  endFederations,
  type IssuerToken,
  listIssuerTokens,
  type TrustedIssuerRecord,
} from '../../store/trusted-issuers.ts';
import type { InstanceAccess } from '../access/access.ts';
import { auditRecord } from '../audit/audit-log.ts';
import { makeChange } from '../change/change.ts';

/** Tokens of one transaction, with their locks and audit rows. */
const tokensAtOnce = 1_000;

/**
 * Revokes the tokens that an issuer proves, in batches, with an audit entry in the organization of each. Disable the issuer
 * before, so that none is created meanwhile.
 */
export async function endIssuerTokens(
  deps: { readonly database: Pick<Database, 'transactionPool'> },
  access: InstanceAccess<'trusted_issuer.delete'>,
  { id: issuerId, name: issuer }: Pick<TrustedIssuerRecord, 'id' | 'name'>,
): Promise<void> {
  for (let after: string | null = null; ;) {
    const tokens: readonly IssuerToken[] = await makeChange(deps, access, async (tx) => {
      const found = await listIssuerTokens(tx, issuerId, { after, limit: tokensAtOnce });
      const revoked = await revokeTokens(
        tx,
        found.map(({ id }) => id),
      );
      await endFederations(
        tx,
        found.map(({ credentialId }) => credentialId),
      );
      const ended = found.filter(({ id }) => revoked.has(id));
      await notifyServiceTokens(
        tx,
        ended.map(({ id, organizationId }) => ({ serviceTokenId: id, organizationId })),
      );
      const records = ended.map(({ id, name, organizationId }) =>
        auditRecord(access.caller, {
          organizationId,
          action: 'service_token.revoke',
          target: { serviceTokenId: id, name, issuer, cause: 'issuer_deleted' },
        }),
      );
      await appendAudits(tx, records);
      return { result: found, audit: null };
    });
    if (tokens.length < tokensAtOnce) return;
    after = tokens.at(-1)?.credentialId ?? null;
  }
}
