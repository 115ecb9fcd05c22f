import { type UseQueryResult, queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '../../client/call.ts';
import type { SecretKeyListView, SecretPatchView } from '../../wire/secrets.ts';
import type { EnvironmentView } from '../../wire/tenancy.ts';
import { type Place, paramsOf, pathOf } from '../text/place.ts';
import { type ApiError, api } from './client.ts';

/** With the type of its data in its key. */
function keysOptions(place: Place) {
  return queryOptions<SecretKeyListView, ApiError>({
    queryKey: ['keys', pathOf(place)],
    queryFn: async () => {
      const request = { params: paramsOf(place), query: { values: 'false' } } as const;
      return (await call(api, 'GET /secrets/{org}/{project}/{env}', request)).body;
    },
    staleTime: 0,
  });
}

export function keysQuery(place: Place): ReturnType<typeof keysOptions> {
  return keysOptions(place);
}

/** The keys of an environment, without values. */
export function useKeys(place: Place): UseQueryResult<SecretKeyListView, ApiError> {
  return useQuery(keysQuery(place));
}

/** The keys of an environment as of a revision, by number or id, without values. */
export function useKeysAt(place: Place, revision: string): UseQueryResult<SecretKeyListView, ApiError> {
  return useQuery<SecretKeyListView, ApiError>({
    queryKey: ['keys-at', pathOf(place), revision],
    queryFn: async () => {
      const request = { params: paramsOf(place), query: { values: 'false', revision } } as const;
      return (await call(api, 'GET /secrets/{org}/{project}/{env}', request)).body;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The environment itself. */
export function useEnvironment(place: Place): UseQueryResult<EnvironmentView, ApiError> {
  return useQuery<EnvironmentView, ApiError>({
    queryKey: ['environment', pathOf(place)],
    queryFn: async () => (await call(api, 'GET /environments/{org}/{project}/{env}', { params: paramsOf(place) })).body,
  });
}

/** Reads one value: one audited request. Nothing keeps it but the caller. */
export async function readValue(place: Place, key: string): Promise<string> {
  const params = { ...paramsOf(place), key };
  return (await call(api, 'GET /secrets/{org}/{project}/{env}/{key}', { params })).body.value;
}

/** Reads the value of a version: one audited request. */
export async function readVersionValue(place: Place, key: string, version: number): Promise<string> {
  const params = { ...paramsOf(place), key, version };
  return (await call(api, 'GET /versions/{org}/{project}/{env}/{key}/{version}', { params })).body.value;
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
  const body = { ...changes, skipUnchanged: true, ...(comment === '' ? {} : { comment }) };
  return (await call(api, 'PATCH /secrets/{org}/{project}/{env}', { params: paramsOf(place), body })).body;
}
