import type { ApiClient, ApiEnvironment } from './api-client.ts';

/** A keyless service token as `GET /service-tokens/{org}` shows it. */
export interface KeylessToken {
  readonly id: string;
  readonly name: string;
  readonly scope: string;
  readonly permission: string;
  readonly environmentId: string;
  readonly holder: { readonly cluster: string; readonly namespace: string };
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
}

interface Place {
  readonly environment: Pick<ApiEnvironment, 'ref'>;
  readonly namespace: string;
}

/** The keyless tokens of a namespace in the organization of an environment, oldest first. */
export async function keylessTokensOf(admin: ApiClient, { environment, namespace }: Place): Promise<KeylessToken[]> {
  const path = `/service-tokens/${environment.ref.organization}?limit=200`;
  const { serviceTokens } = await admin.call<{ serviceTokens: (KeylessToken | { holder: null })[] }>('GET', path);
  return serviceTokens
    .flatMap((token) => (token.holder?.namespace === namespace ? [token as KeylessToken] : []))
    .toReversed();
}

/** The ids of the service tokens that have read values in the organization of an environment, newest first. */
export async function readersOf(admin: ApiClient, { ref: { organization } }: ApiEnvironment): Promise<string[]> {
  const path = `/audit/${organization}?action=secret.list&actorType=service_token&limit=200`;
  const { entries } = await admin.call<{ entries: { actor: { id: string }; outcome: string }[] }>('GET', path);
  return [...new Set(entries.flatMap(({ actor, outcome }) => (outcome === 'success' ? [actor.id] : [])))];
}
