import type { ReactNode } from 'react';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ApiError } from '../api/client.ts';
import { Failure } from './failure.tsx';

export interface LoadedProps<Data> {
  readonly query: UseQueryResult<Data, ApiError>;
  /** Shown meanwhile, with the size of what follows. Left out where the page waits for the query itself. */
  readonly waiting?: ReactNode;
  readonly children: (data: Data) => ReactNode;
}

/** What was loaded. If that failed, it says why and offers a second try. A later failure leaves what was loaded. */
export function Loaded<Data>({ query, waiting, children }: LoadedProps<Data>): ReactNode {
  if (query.data !== undefined) return children(query.data);
  if (query.error !== null) return <Failure error={query.error} onRetry={() => void query.refetch()} />;
  return waiting;
}
