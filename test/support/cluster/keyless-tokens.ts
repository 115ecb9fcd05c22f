import type { ApiClient, ApiEnvironment } from '../api/api-client.ts';

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

/** What the audit says of a read by a SecretSync. */
export interface AuditedRead {
  readonly actor: { readonly type: string; readonly id: string; readonly name: string };
  readonly outcome: 'success' | 'denied' | 'failed';
  readonly label: string | null;
  readonly target: Readonly<Record<string, unknown>>;
  readonly credential: object | null;
}

/** The SecretSyncs that an entry names, as `namespace/name`. */
export function secretSyncsOf({ target: { secretSync, secretSyncs } }: AuditedRead): readonly string[] {
  if (Array.isArray(secretSyncs)) return (secretSyncs as readonly { readonly name: string }[]).map(({ name }) => name);
  return typeof secretSync === 'string' ? [secretSync] : [];
}

/** The reads of values in the organization of an environment by all but people, newest first. */
export async function auditedReads(
  admin: ApiClient,
  { ref: { organization } }: ApiEnvironment,
): Promise<AuditedRead[]> {
  const { entries } = await admin.call<{ entries: AuditedRead[] }>(
    'GET',
    `/audit/${organization}?action=secret.list&limit=200`,
  );
  return entries.filter(({ actor }) => actor.type !== 'user');
}

/** The ids of the service tokens that have read values in the organization of an environment, newest first. */
export async function readersOf(admin: ApiClient, environment: ApiEnvironment): Promise<string[]> {
  const reads = (await auditedReads(admin, environment)).filter(({ outcome }) => outcome === 'success');
  return [...new Set(reads.map(({ actor }) => actor.id))];
}

/** The reads of a SecretSync that no grant covers, newest first. They are in the audit of no organization: nothing was looked up. */
export async function refusedReads(admin: ApiClient, uid: string): Promise<AuditedRead[]> {
  const { entries } = await admin.call<{ entries: AuditedRead[] }>('GET', '/audit?action=secret.list&limit=200');
  return entries.filter(({ target }) => target['secretSyncUid'] === uid);
}
