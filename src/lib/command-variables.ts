/** The variables of the command. The server ignores them: both may share an environment. */
export const commandVariables = [
  'KEYFRAME_URL',
  'KEYFRAME_TOKEN',
  'KEYFRAME_TOKEN_FILE',
  'KEYFRAME_PROFILE',
  'KEYFRAME_ORG',
  'KEYFRAME_PROJECT',
  'KEYFRAME_ENV',
  'KEYFRAME_TRUST_FOLDER',
  'KEYFRAME_RUN_VARIABLES',
  'KEYFRAME_INSECURE_HTTP',
] as const;

export type CommandVariable = (typeof commandVariables)[number];
