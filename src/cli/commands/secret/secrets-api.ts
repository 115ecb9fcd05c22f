import type {
  GeneratedValue,
  SecretKeyListView,
  SecretListView,
  SecretPatchView,
  SecretView,
} from '../../../wire/secrets.ts';
import type { VersionWithValueView } from '../../../wire/versions.ts';
import type { ApiClient } from '../../../client/api-client.ts';
import { call } from '../../../client/call.ts';
import type { SecretTable } from '../../../wire/formats/secret-table.ts';
import { type Scope, scopeParams } from '../../settings/scope.ts';

/** The requests that several commands make of docs/interface.md 4.5. */

/** All secrets of an environment with their values, now or at a past revision. */
export async function readSecrets(
  api: ApiClient,
  scope: Scope,
  revision?: string,
  { skipDestroyed = false } = {},
): Promise<SecretListView> {
  const query = { revision, ...(skipDestroyed ? { skipDestroyed: 'true' as const } : {}) };
  return (await call(api, 'GET /secrets/{org}/{project}/{env}', { params: scopeParams(scope), query })).body;
}

/** The keys of an environment, without values. */
export async function readKeys(
  api: ApiClient,
  scope: Scope,
  { prefix, revision }: { readonly prefix?: string | undefined; readonly revision?: string | undefined } = {},
): Promise<SecretKeyListView> {
  const query = { values: 'false', prefix, revision } as const;
  return (await call(api, 'GET /secrets/{org}/{project}/{env}', { params: scopeParams(scope), query })).body;
}

/** The keys that a list lacks, because their values at its revision were destroyed. */
export async function destroyedKeys(api: ApiClient, scope: Scope, list: SecretListView): Promise<string[]> {
  const { secrets } = await readKeys(api, scope, { revision: list.revisionId });
  const present = new Set(list.secrets.map(({ key }) => key));
  return secrets.map(({ key }) => key).filter((key) => !present.has(key));
}

/** The metadata of a secret; undefined if it does not exist. */
export async function findSecretKey(
  api: ApiClient,
  scope: Scope,
  key: string,
): Promise<SecretKeyListView['secrets'][number] | undefined> {
  const { secrets } = await readKeys(api, scope, { prefix: key });
  return secrets.find((secret) => secret.key === key);
}

export interface SecretChanges {
  readonly set?: SecretTable;
  /** Values that the server makes up, by their keys. */
  readonly generate?: ReadonlyMap<string, GeneratedValue>;
  readonly delete?: readonly string[];
  readonly comment?: string | undefined;
  readonly expectedRevision?: string | undefined;
  readonly skipUnchanged?: boolean;
}

/** Makes all the changes in one step, or none of them. */
export async function patchSecrets(api: ApiClient, scope: Scope, changes: SecretChanges): Promise<SecretPatchView> {
  const { set, generate, ...rest } = changes;
  // What is undefined is not sent.
  const body = {
    ...rest,
    ...(set === undefined ? {} : { set: Object.fromEntries(set) }),
    ...(generate === undefined ? {} : { generate: Object.fromEntries(generate) }),
  };
  return (await call(api, 'PATCH /secrets/{org}/{project}/{env}', { params: scopeParams(scope), body })).body;
}

/** A version of a secret as --output json prints it: a secret, and what only a version has. */
export function pastSecret(key: string, version: VersionWithValueView): SecretView & VersionWithValueView {
  return { key, ...version, updatedAt: version.createdAt };
}

/** The values of a list by their keys. */
export function tableOf({ secrets }: SecretListView): SecretTable {
  return new Map(secrets.map(({ key, value }) => [key, value]));
}

/** An environment as users write it: `acme/shop/production`. */
export function shownScope({ organization, project, environment }: Scope): string {
  return `${organization}/${project}/${environment}`;
}

/** The flags that name an environment, for commands that are suggested. */
export function scopeFlags({ organization, project, environment }: Scope): string {
  return `-o ${organization} -p ${project} -e ${environment}`;
}
