import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { call } from '../../client/call.ts';
import type { IssuerNameView } from '../../wire/trusted-issuers.ts';
import { type ApiError, api } from './client.ts';

const pollMs = 60_000;

/** The trusted issuers that service tokens of an organization can name; for its admins. */
export function useIssuerNames(
  organization: string,
  { enabled }: { readonly enabled: boolean },
): UseQueryResult<readonly IssuerNameView[], ApiError> {
  return useQuery<readonly IssuerNameView[], ApiError>({
    queryKey: ['issuer-names', organization],
    queryFn: async () => {
      const params = { org: organization };
      return (await call(api, 'GET /organizations/{org}/trusted-issuers', { params })).body.trustedIssuers;
    },
    refetchInterval: pollMs,
    enabled,
  });
}
