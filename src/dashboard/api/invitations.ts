import { type UseMutationResult, type UseQueryResult, queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '../../client/call.ts';
import type { InvitationView } from '../../wire/invitations.ts';
import { type ApiError, api } from './client.ts';
import { meQuery } from './me.ts';
import { useChange } from './use-change.ts';

const invitationsQuery = queryOptions<readonly InvitationView[], ApiError>({
  queryKey: ['invitations'],
  queryFn: async () => (await call(api, 'GET /invitations')).body.invitations,
});

/** The invitations that wait for the user, by place. */
export function useInvitations(): UseQueryResult<readonly InvitationView[], ApiError> {
  return useQuery(invitationsQuery);
}

/** What the user answers to an invitation. */
export interface InvitationAnswer {
  readonly id: string;
  readonly verb: 'accept' | 'decline';
}

/** Answers an invitation. */
export function useAnswerInvitation(): UseMutationResult<void, ApiError, InvitationAnswer> {
  return useChange(
    async ({ id, verb }) => {
      await call(api, `POST /invitations/{id}/${verb}`, { params: { id } });
    },
    invitationsQuery.queryKey,
    meQuery.queryKey,
  );
}
