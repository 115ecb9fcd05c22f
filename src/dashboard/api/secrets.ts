import { type UseQueryResult, queryOptions, useQuery } from '@tanstack/react-query';
import type { SecretKeyListView, SecretPatchView, SecretView } from '../../wire/secrets.ts';
import type { EnvironmentView } from '../../wire/tenancy.ts';
import type { VersionWithValueView } from '../../wire/versions.ts';
import { type Place, pathOf } from '../text/place.ts';
import { type ApiError, callApi } from './client.ts';

/** With the type of its data in its key. */
function keysOptions(path: string) {
  return queryOptions<SecretKeyListView, ApiError>({
    queryKey: ['keys', path],
    queryFn: () => callApi<SecretKeyListView>(`/secrets/${path}?values=false`),
    staleTime: 0,
  });
}

export function keysQuery(place: Place): ReturnType<typeof keysOptions> {
  return keysOptions(pathOf(place));
}

/** The keys of an environment, without values. */
export function useKeys(place: Place): UseQueryResult<SecretKeyListView, ApiError> {
  return useQuery(keysQuery(place));
}

/** The keys of an environment as of a revision, by number or id, without values. */
export function useKeysAt(place: Place, revision: string): UseQueryResult<SecretKeyListView, ApiError> {
  return useQuery<SecretKeyListView, ApiError>({
    queryKey: ['keys-at', pathOf(place), revision],
    queryFn: () =>
      callApi<SecretKeyListView>(`/secrets/${pathOf(place)}?values=false&revision=${encodeURIComponent(revision)}`),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The environment itself. */
export function useEnvironment(place: Place): UseQueryResult<EnvironmentView, ApiError> {
  return useQuery<EnvironmentView, ApiError>({
    queryKey: ['environment', pathOf(place)],
    queryFn: () => callApi<EnvironmentView>(`/environments/${pathOf(place)}`),
  });
}

/** Reads one value: one audited request. Nothing keeps it but the caller. */
export async function readValue(place: Place, key: string): Promise<string> {
  return (await callApi<SecretView>(`/secrets/${pathOf(place)}/${encodeURIComponent(key)}`)).value;
}

/** Reads the value of a version: one audited request. */
export async function readVersionValue(place: Place, key: string, version: number): Promise<string> {
  const path = `/versions/${pathOf(place)}/${encodeURIComponent(key)}/${version}`;
  return (await callApi<VersionWithValueView>(path)).value;
}

/** What a commit sends. */
interface SentCommit {
  readonly set: Readonly<Record<string, string>>;
  readonly delete: readonly string[];
  readonly comment: string;
  /** The id of the revision that the plan was made for. */
  readonly expectedRevision: string;
}

/** Saves changes as one revision. Values that are equal make no version. */
export async function commitSecrets(place: Place, { comment, ...changes }: SentCommit): Promise<SecretPatchView> {
  return callApi<SecretPatchView>(`/secrets/${pathOf(place)}`, {
    method: 'PATCH',
    body: { ...changes, skipUnchanged: true, ...(comment === '' ? {} : { comment }) },
  });
}
