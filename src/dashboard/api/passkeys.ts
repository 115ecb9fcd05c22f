import { startAuthentication, startRegistration, WebAuthnError } from '@simplewebauthn/browser';
import { type UseMutationResult, type UseQueryResult, queryOptions, useQuery } from '@tanstack/react-query';
import type {
  CreatePasskeyBody,
  PasskeyCreationView,
  PasskeyListView,
  PasskeyRequestView,
  PasskeySessionBody,
  PasskeyView,
} from '../../wire/passkeys.ts';
import { ApiError, callApi } from './client.ts';
import type { User } from './me.ts';
import { signedInUser } from './sessions.ts';
import { useChange } from './use-change.ts';

const passkeysQuery = queryOptions<readonly PasskeyView[], ApiError>({
  queryKey: ['passkeys'],
  queryFn: async () => (await callApi<PasskeyListView>('/passkeys')).passkeys,
});

/** The passkeys of the user, newest first. */
export function usePasskeys(): UseQueryResult<readonly PasskeyView[], ApiError> {
  return useQuery(passkeysQuery);
}

/**
 * Begins a session with a passkey that the user chooses, and returns its user.
 *
 * @throws ApiError also if the user cancels
 */
export async function signInWithPasskey(): Promise<User> {
  const optionsJSON = await callApi<PasskeyRequestView>('/passkey-challenges', { method: 'POST' });
  const { id, response } = await startAuthentication({ optionsJSON }).catch(refusal);
  const { clientDataJSON, authenticatorData, signature, userHandle } = response;
  const handle = userHandle === undefined ? {} : { userHandle };
  const body: PasskeySessionBody = { id, response: { clientDataJSON, authenticatorData, signature, ...handle } };
  await callApi('/passkey-sessions', { method: 'POST', body });
  return signedInUser();
}

/** Registers a passkey under a name. */
export function useCreatePasskey(): UseMutationResult<void, ApiError, string> {
  return useChange(async (name: string) => {
    const optionsJSON = await callApi<PasskeyCreationView>('/passkey-registrations', { method: 'POST' });
    const { id, response } = await startRegistration({
      optionsJSON: { ...optionsJSON, excludeCredentials: [...optionsJSON.excludeCredentials] },
    }).catch(refusal);
    const { clientDataJSON, attestationObject, transports = [] } = response;
    const body: CreatePasskeyBody = { name, id, response: { clientDataJSON, attestationObject, transports } };
    await callApi('/passkeys', { method: 'POST', body });
  }, passkeysQuery.queryKey);
}

/** Removes a passkey by its id. */
export function useRemovePasskey(): UseMutationResult<void, ApiError, string> {
  return useChange((id) => callApi(`/passkeys/${id}`, { method: 'DELETE' }), passkeysQuery.queryKey);
}

/** Makes a passkey usable that came back from a backup. */
export function useConfirmPasskey(): UseMutationResult<void, ApiError, string> {
  return useChange((id) => callApi(`/passkeys/${id}/confirm`, { method: 'POST' }), passkeysQuery.queryKey);
}

/** What the browser refused. It does not say whether the user cancelled, took too long or has no passkey. */
function refusal(error: unknown): never {
  const isKnown = error instanceof WebAuthnError && error.code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED';
  const detail = isKnown
    ? 'This device has a passkey of yours already.'
    : 'No passkey was used. Try again, or choose another way.';
  throw new ApiError(detail, { status: 0, code: 'no_passkey', retryAfterSeconds: undefined });
}
