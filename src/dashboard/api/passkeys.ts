import { startAuthentication, startRegistration, WebAuthnError } from '@simplewebauthn/browser';
import { type UseMutationResult, type UseQueryResult, queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '../../client/call.ts';
import type { PasskeyView } from '../../wire/passkeys.ts';
import { ApiError, api } from './client.ts';
import type { User } from './me.ts';
import { signedInUser } from './sessions.ts';
import { useChange } from './use-change.ts';

const passkeysQuery = queryOptions<readonly PasskeyView[], ApiError>({
  queryKey: ['passkeys'],
  queryFn: async () => (await call(api, 'GET /passkeys')).body.passkeys,
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
  const { body: optionsJSON } = await call(api, 'POST /passkey-challenges');
  const { id, response } = await startAuthentication({ optionsJSON }).catch(refusal);
  const { clientDataJSON, authenticatorData, signature, userHandle } = response;
  const handle = userHandle === undefined ? {} : { userHandle };
  const body = { id, response: { clientDataJSON, authenticatorData, signature, ...handle } };
  await call(api, 'POST /passkey-sessions', { body });
  return signedInUser();
}

/** Registers a passkey under a name. */
export function useCreatePasskey(): UseMutationResult<void, ApiError, string> {
  return useChange(async (name: string) => {
    const { body: optionsJSON } = await call(api, 'POST /passkey-registrations');
    const { id, response } = await startRegistration({ optionsJSON }).catch(refusal);
    const { clientDataJSON, attestationObject, transports = [] } = response;
    const body = { name, id, response: { clientDataJSON, attestationObject, transports } };
    await call(api, 'POST /passkeys', { body });
  }, passkeysQuery.queryKey);
}

/** Removes a passkey by its id. */
export function useRemovePasskey(): UseMutationResult<void, ApiError, string> {
  return useChange(async (id) => {
    await call(api, 'DELETE /passkeys/{id}', { params: { id } });
  }, passkeysQuery.queryKey);
}

/** Makes a passkey usable that came back from a backup. */
export function useConfirmPasskey(): UseMutationResult<void, ApiError, string> {
  return useChange(async (id) => {
    await call(api, 'POST /passkeys/{id}/confirm', { params: { id } });
  }, passkeysQuery.queryKey);
}

/** What the browser refused. It does not say whether the user cancelled, took too long or has no passkey. */
function refusal(error: unknown): never {
  const isKnown = error instanceof WebAuthnError && error.code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED';
  const detail = isKnown
    ? 'This device has a passkey of yours already.'
    : 'No passkey was used. Try again, or choose another way.';
  throw new ApiError(detail, { status: 0, code: 'no_passkey', retryAfterSeconds: undefined });
}
