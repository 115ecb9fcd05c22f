import type { Logger } from '../../observability/logger.ts';
import type { Database } from '../../store/database.ts';
import { countStrandedSignIns } from '../../store/passkeys.ts';
import type { RelyingParty } from '../../identity/relying-party.ts';
import type { PasskeysOff } from './passkeys.ts';

export interface StrandedSignInsDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly relyingParty: RelyingParty | PasskeysOff;
  /** The name of the issuer; undefined for none. */
  readonly issuer: string | undefined;
}

/**
 * Warns, at the start, of ways to sign in that stopped working with the configuration: passkeys for another host, and accounts
 * of another issuer. Throws DomainError store_unavailable.
 */
export async function reportStrandedSignIns(deps: StrandedSignInsDeps): Promise<void> {
  const { database, logger, relyingParty, issuer = null } = deps;
  const rpId = typeof relyingParty === 'string' ? null : relyingParty.id;
  if (relyingParty === 'ip_address') {
    logger.warn('passkeys are off: the host in KEYFRAME_PUBLIC_URL is an IP address, for which browsers have none');
  }
  const { passkeys, identities } = await countStrandedSignIns(database.pool, { rpId, issuer });
  if (passkeys > 0) {
    logger.warn(
      { passkeys, host: rpId },
      'passkeys do not work at this server: they were registered for another host than that of KEYFRAME_PUBLIC_URL',
    );
  }
  if (identities > 0) {
    logger.warn(
      { identities },
      'accounts of OpenID Connect do not work at this server: they are linked to another issuer than KEYFRAME_OIDC_ISSUER',
    );
  }
}
