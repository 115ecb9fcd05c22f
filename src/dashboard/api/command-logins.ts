import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { call } from '../../client/call.ts';
import type { ApprovedLoginView, WaitingDeviceView } from '../../wire/command-logins.ts';
import { type ApiError, api } from './client.ts';

/** Approves the command that began with this challenge. Returns the code that it waits for. */
export function useApproveLogin(): UseMutationResult<ApprovedLoginView, ApiError, string> {
  return useMutation<ApprovedLoginView, ApiError, string>({
    mutationFn: async (codeChallenge) => (await call(api, 'POST /logins', { body: { codeChallenge } })).body,
  });
}

/** Finds the command on another machine that shows this code. */
export function useFindDevice(): UseMutationResult<WaitingDeviceView, ApiError, string> {
  return useMutation<WaitingDeviceView, ApiError, string>({
    mutationFn: async (userCode) => (await call(api, 'POST /device-logins/lookup', { body: { userCode } })).body,
  });
}

export function useApproveDevice(): UseMutationResult<void, ApiError, string> {
  return useMutation<void, ApiError, string>({
    mutationFn: async (userCode) => (await call(api, 'POST /device-logins/approve', { body: { userCode } })).body,
  });
}
