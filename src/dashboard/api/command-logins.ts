import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import type { ApprovedLoginView, WaitingDeviceView } from '../../wire/command-logins.ts';
import { type ApiError, callApi } from './client.ts';

/** Approves the command that began with this challenge. Returns the code that it waits for. */
export function useApproveLogin(): UseMutationResult<ApprovedLoginView, ApiError, string> {
  return useMutation<ApprovedLoginView, ApiError, string>({
    mutationFn: (codeChallenge) => callApi('/logins', { method: 'POST', body: { codeChallenge } }),
  });
}

/** Finds the command on another machine that shows this code. */
export function useFindDevice(): UseMutationResult<WaitingDeviceView, ApiError, string> {
  return useMutation<WaitingDeviceView, ApiError, string>({
    mutationFn: (userCode) => callApi('/device-logins/lookup', { method: 'POST', body: { userCode } }),
  });
}

export function useApproveDevice(): UseMutationResult<void, ApiError, string> {
  return useMutation<void, ApiError, string>({
    mutationFn: (userCode) => callApi('/device-logins/approve', { method: 'POST', body: { userCode } }),
  });
}
