import { endFederations, listIssuerTokens, type TrustedIssuerRecord } from '../../store/trusted-issuers.ts';
import type { InstanceAccess } from '../access/access.ts';
import type { ChangeDeps } from '../change/change.ts';
import { endTokens, inBatches, nextBatch, tokensAtOnce } from '../change/token-ends.ts';

/**
 * Revokes the tokens that an issuer proves, in batches, with an audit entry in the organization of each. Disable the issuer
 * before, so that none is created meanwhile.
 */
export async function endIssuerTokens(
  deps: ChangeDeps,
  access: InstanceAccess<'trusted_issuer.delete'>,
  { id: issuerId, name: issuer }: Pick<TrustedIssuerRecord, 'id' | 'name'>,
): Promise<void> {
  const how = { action: 'service_token.revoke', why: { issuer, cause: 'issuer_deleted' } } as const;
  await inBatches(deps, access, async (tx, after) => {
    const tokens = await listIssuerTokens(tx, issuerId, { after, limit: tokensAtOnce });
    const ended = await endTokens(tx, access.caller, tokens, how);
    await endFederations(
      tx,
      tokens.map(({ credentialId }) => credentialId),
    );
    return { ended, next: nextBatch(tokens, ({ credentialId }) => credentialId) };
  });
}
