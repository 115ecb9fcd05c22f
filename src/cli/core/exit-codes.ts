/** The exit codes, for scripts. Their meaning never changes; `keyframe --help` shows the same table. */
export const exitCodes = {
  ok: 0,
  failure: 1,
  usage: 2,
  unauthenticated: 3,
  forbidden: 4,
  notFound: 5,
  conflict: 6,
  refused: 7,
  different: 8,
  late: 9,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The meaning of each, for the help. */
export const exitCodeMeanings: Readonly<Record<ExitCode, string>> = {
  0: 'success',
  1: 'server or network error',
  2: 'invalid arguments, file or value',
  3: 'not signed in, or the token is no longer valid',
  4: 'permission denied',
  5: 'not found, or you may not see it',
  6: 'conflict with the current state, or it changed in the meantime',
  7: 'not confirmed',
  8: 'difference found (diff --exit-code)',
  9: 'not reached in time (wait, watch --once)',
  130: 'interrupted',
};
