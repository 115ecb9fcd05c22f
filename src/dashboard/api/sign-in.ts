import { queryOptions } from '@tanstack/react-query';
import { call } from '../../client/call.ts';
import type { SignInView } from '../../wire/sign-in.ts';
import { type ApiError, api } from './client.ts';

export type SignInMethod = SignInView['methods'][number];

/** How users sign in at this server. */
export const signInQuery = queryOptions<SignInView, ApiError>({
  queryKey: ['sign-in'],
  queryFn: async () => (await call(api, 'GET /sign-in')).body,
  staleTime: Infinity,
});
