/** How the command ends, for scripts. These numbers never change their meaning; `keyframe --help` shows the same table. */
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
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** What each means, as the help shows it. */
export const exitCodeMeanings: Readonly<Record<ExitCode, string>> = {
  0: 'done',
  1: 'the server or the network failed',
  2: 'the command line, a file or a value is not as it must be',
  3: 'not signed in, or the token is no longer good',
  4: 'signed in, but not allowed to do this',
  5: 'there is no such thing, or it is not yours to see',
  6: 'it conflicts with the present state, or that has changed meanwhile',
  7: 'not confirmed',
  8: 'the two sides differ (diff --exit-code)',
  130: 'interrupted',
};
