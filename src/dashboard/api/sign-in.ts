import { queryOptions } from '@tanstack/react-query';
import type { SignInView } from '../../wire/sign-in.ts';
import { type ApiError, callApi } from './client.ts';

export type SignInMethod = SignInView['methods'][number];

/** How users sign in at this server. */
export const signInQuery = queryOptions<SignInView, ApiError>({
  queryKey: ['sign-in'],
  queryFn: async () => callApi<SignInView>('/sign-in'),
  staleTime: Infinity,
});
