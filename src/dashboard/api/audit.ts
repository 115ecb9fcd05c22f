import {
  type InfiniteData,
  type UseInfiniteQueryResult,
  keepPreviousData,
  useInfiniteQuery,
} from '@tanstack/react-query';
import type { AuditEntryView } from '../../wire/audit.ts';
import { type AuditFilter, auditQueryOf } from '../text/audit-filter.ts';
import { type ApiError, callApi } from './client.ts';

interface AuditPage {
  readonly entries: readonly AuditEntryView[];
  readonly nextCursor: string | null;
}

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
  const path = organization === undefined ? '/audit' : `/audit/${organization}`;
  return useInfiniteQuery<AuditPage, ApiError, InfiniteData<AuditPage>, readonly unknown[], string>({
    queryKey: ['audit', organization, filter],
    queryFn: ({ pageParam }) => callApi<AuditPage>(`${path}?${auditQueryOf(filter, pageParam).toString()}`),
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
