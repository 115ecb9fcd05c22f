import {
  type QueryKey,
  type UseMutationResult,
  useIsMutating,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import type { ApiError } from './client.ts';

/**
 * A change, after which these lists are requested again, also if it was refused. What it sends and returns may be secret, so
 * the cache forgets it together with the part of the page that made it.
 */
export function useChange<Input, Result = void>(
  change: (input: Input) => Promise<Result>,
  ...lists: readonly QueryKey[]
): UseMutationResult<Result, ApiError, Input> {
  const client = useQueryClient();
  return useMutation<Result, ApiError, Input>({
    mutationFn: change,
    gcTime: 0,
    onSettled: async () => {
      for (const queryKey of lists) await client.invalidateQueries({ queryKey });
    },
  });
}

/** Whether a change is under way. Until it ends, nothing that reports its result may leave the page. */
export function useIsChanging(): boolean {
  return useIsMutating() > 0;
}
