import type { ApiClient } from '../../../client/api-client.ts';
import type { IdentityListView } from '../../../wire/identities.ts';
import type { PasskeyListView } from '../../../wire/passkeys.ts';

/**
 * The passkeys and linked accounts of the user that were set up since a time, or all of them: each with its id. Empty if
 * the server does not list them, because a revocation must not fail for that.
 */
export async function keptSignIns(api: ApiClient, since: string | undefined): Promise<readonly string[]> {
  try {
    const [{ passkeys }, { identities }] = await Promise.all([
      api.get<PasskeyListView>('/passkeys'),
      api.get<IdentityListView>('/identities'),
    ]);
    const isKept = ({ createdAt }: { readonly createdAt: string }): boolean =>
      since === undefined || Date.parse(createdAt) >= Date.parse(since);
    return [
      ...passkeys.filter(isKept).map(({ id, name }) => `passkey "${name}" (${id})`),
      ...identities.filter(isKept).map(({ id, issuer }) => `account of ${issuer} (${id})`),
    ];
  } catch {
    return [];
  }
}
