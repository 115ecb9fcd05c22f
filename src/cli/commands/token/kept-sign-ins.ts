import type { ApiClient } from '../../../client/api-client.ts';
import { call } from '../../../client/call.ts';
import type { PersonalTokenView } from '../../../wire/personal-tokens.ts';

/**
 * The passkeys, linked accounts and other live tokens of the user that were set up since a personal token was created:
 * each with its id. Empty if the server does not list them, because a revocation must not fail for that.
 */
export async function keptSignIns(api: ApiClient, tokenId: string): Promise<readonly string[]> {
  try {
    const [passkeys, identities, tokens] = await Promise.all([
      call(api, 'GET /passkeys'),
      call(api, 'GET /identities'),
      call(api, 'GET /personal-tokens'),
    ]);
    const { personalTokens } = tokens.body;
    const since = personalTokens.find(({ id }) => id === tokenId.toLowerCase())?.createdAt;
    const isKept = ({ createdAt }: { readonly createdAt: string }): boolean =>
      since === undefined || Date.parse(createdAt) >= Date.parse(since);
    return [
      ...passkeys.body.passkeys.filter(isKept).map(({ id, name }) => `passkey "${name}" (${id})`),
      ...identities.body.identities.filter(isKept).map(({ id, issuer }) => `account of ${issuer} (${id})`),
      ...personalTokens
        .filter((token) => token.id !== tokenId.toLowerCase() && isLive(token) && isKept(token))
        .map(({ id, name }) => `token "${name}" (${id})`),
    ];
  } catch {
    return [];
  }
}

function isLive({ revokedAt, expiresAt }: PersonalTokenView): boolean {
  return revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > Date.now());
}
