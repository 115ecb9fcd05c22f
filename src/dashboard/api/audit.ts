import {
  type InfiniteData,
  type UseInfiniteQueryResult,
  keepPreviousData,
  useInfiniteQuery,
} from '@tanstack/react-query';
import { type BodyOf, call } from '../../client/call.ts';
import { type AuditFilter, auditQueryOf } from '../text/audit-filter.ts';
import { type ApiError, api } from './client.ts';

type AuditPage = BodyOf<'GET /audit'>;

/**
 * The audit of an organization, or of the instance, newest first, a hundred entries at a time. Each page that is read is an
 * entry itself. So the page requests them only when the user asks for them.
 *
 * @param organization undefined for the instance
 */
export function useAudit(
  organization: string | undefined,
  filter: AuditFilter,
  { enabled }: { readonly enabled: boolean },
): UseInfiniteQueryResult<InfiniteData<AuditPage>, ApiError> {
  return useInfiniteQuery<AuditPage, ApiError, InfiniteData<AuditPage>, readonly unknown[], string>({
    queryKey: ['audit', organization, filter],
    queryFn: async ({ pageParam }) => {
      const query = auditQueryOf(filter, pageParam);
      if (organization === undefined) return (await call(api, 'GET /audit', { query })).body;
      return (await call(api, 'GET /audit/{org}', { params: { org: organization }, query })).body;
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    enabled,
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
}
