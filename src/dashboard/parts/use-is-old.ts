import type { UseQueryResult } from '@tanstack/react-query';
import { useNow } from './use-now.ts';

/** Lists that are requested every ten seconds are younger, unless the server does not answer. */
const maxAgeMs = 60_000;

/** Whether what the page shows of a list may have changed since: the newest request failed, or none was answered for a minute. */
export function useIsOld({
  isError,
  data,
  dataUpdatedAt,
}: Pick<UseQueryResult, 'isError' | 'data' | 'dataUpdatedAt'>): boolean {
  const now = useNow();
  return isError || (data !== undefined && now - dataUpdatedAt > maxAgeMs);
}
