import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { MemberView } from '../../wire/members.ts';
import { type ApiError, callApi } from './client.ts';

/** The members of an organization, by e-mail address. */
export function useMembers(
  organization: string,
  { enabled = true }: { readonly enabled?: boolean } = {},
): UseQueryResult<readonly MemberView[], ApiError> {
  return useQuery<readonly MemberView[], ApiError>({
    queryKey: ['members', organization],
    queryFn: async () =>
      (await callApi<{ readonly members: readonly MemberView[] }>(`/members/${organization}`)).members,
    enabled,
  });
}
