import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { call } from '../../client/call.ts';
import type { SessionView } from '../../wire/sessions.ts';
import type { LinkView } from '../../wire/sign-in-links.ts';
import { type ApiError, api } from './client.ts';

/** Asks what a link is for. A mutation, because the keys of queries are kept. */
export function useFindLink(): UseMutationResult<LinkView, ApiError, string> {
  return useMutation<LinkView, ApiError, string>({
    mutationFn: async (link) => (await call(api, 'POST /sign-in-links/lookup', { body: { link } })).body,
    gcTime: 0,
  });
}

/** Uses a link, which signs the browser in, and forgets what the page knew of another user. */
export function useRedeemLink(): UseMutationResult<SessionView, ApiError, string> {
  const client = useQueryClient();
  return useMutation<SessionView, ApiError, string>({
    mutationFn: async (link) => (await call(api, 'POST /sign-in-links/redeem', { body: { link } })).body,
    gcTime: 0,
    onSuccess: () => client.clear(),
  });
}
