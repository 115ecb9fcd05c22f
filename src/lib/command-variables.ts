/** The variables of the command. The server ignores them: both may share an environment. */
export const commandVariables = [
  'KEYFRAME_URL',
  'KEYFRAME_TOKEN',
  'KEYFRAME_TOKEN_FILE',
  'KEYFRAME_AUDIENCE',
  'KEYFRAME_PROFILE',
  'KEYFRAME_ORG',
  'KEYFRAME_PROJECT',
  'KEYFRAME_ENV',
  'KEYFRAME_TRUST_FOLDER',
  'KEYFRAME_RUN_VARIABLES',
  'KEYFRAME_INSECURE_HTTP',
] as const;

export type CommandVariable = (typeof commandVariables)[number];

/** What the runner of GitHub sets in a job that may request a JWT. The command asks it if KEYFRAME_AUDIENCE is set. */
export const runnerVariables = ['ACTIONS_ID_TOKEN_REQUEST_URL', 'ACTIONS_ID_TOKEN_REQUEST_TOKEN'] as const;

export type RunnerVariable = (typeof runnerVariables)[number];
