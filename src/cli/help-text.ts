import type { CommandDefinition } from './command.ts';
import { exitCodeMeanings } from './exit-codes.ts';

/** The text below the help of a command: its examples. */
export function commandHelp({ examples }: CommandDefinition): string {
  const lines = examples.map(({ line, note }) => `  # ${note}\n  keyframe ${line}`);
  return `\nExamples:\n${lines.join('\n')}`;
}

const exitCodeLines = Object.entries(exitCodeMeanings).map(([code, meaning]) => `  ${code.padStart(3)}  ${meaning}`);

/** The text below the help of the program. */
export const programHelp = `
Examples:
  # Sign in; prompts for the token without showing it
  keyframe login --url https://keyframe.example.com
  # Set the default environment for this directory
  keyframe init -o acme -p shop -e production
  # Import a file, show one secret, and run a program with all secrets
  keyframe push .env
  keyframe get API_KEY --reveal
  keyframe run -- npm start

Settings come from the first of these sources that is set:
  server       --url, --profile, KEYFRAME_URL, KEYFRAME_PROFILE, .keyframe.json of this directory or a parent, login
  token        --token-file, --profile, KEYFRAME_TOKEN or KEYFRAME_TOKEN_FILE, KEYFRAME_PROFILE, login for that server
  environment  -o, -p, -e; .keyframe.json of this directory or a parent
A .keyframe.json is used if keyframe init wrote it, or after keyframe trust (in CI: KEYFRAME_TRUST_FOLDER=1).
Over http the token is sent only to this machine, unless --insecure-http or KEYFRAME_INSECURE_HTTP=1 is set.
If only .keyframe.json names the server, no token is sent until you sign in there or set --url or KEYFRAME_URL.

Exit codes:
${exitCodeLines.join('\n')}
  run ends with the exit code of the program.`;
