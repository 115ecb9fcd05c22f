import type { CommandDefinition } from './command.ts';
import { exitCodeMeanings } from './exit-codes.ts';

/** What stands below the help of a command: its examples. */
export function commandHelp({ examples }: CommandDefinition): string {
  const lines = examples.map(({ line, note }) => `  # ${note}\n  keyframe ${line}`);
  return `\nExamples:\n${lines.join('\n')}`;
}

const exitCodeLines = Object.entries(exitCodeMeanings).map(([code, meaning]) => `  ${code.padStart(3)}  ${meaning}`);

/** What stands below the help of the whole program. */
export const programHelp = `
Examples:
  # Sign in; the token is read from the terminal and not shown
  keyframe login --url https://keyframe.example.com
  # Say which environment this folder is about
  keyframe init -o acme -p shop -e production
  # Import a file, look at one secret, and start a program with all of them
  keyframe push .env
  keyframe get API_KEY --reveal
  keyframe run -- npm start

Where settings come from, the first that there is:
  server       --url, KEYFRAME_URL, .keyframe.json of the folder or one above, what login stored
  token        --token-file, KEYFRAME_TOKEN or KEYFRAME_TOKEN_FILE, what login stored for that server
  environment  -o, -p, -e; .keyframe.json of the folder or one above
A .keyframe.json counts after keyframe init wrote it here, or after keyframe trust (in CI: KEYFRAME_TRUST_FOLDER=1).
The token is sent over http to this machine alone, unless --insecure-http or KEYFRAME_INSECURE_HTTP=1 is given.
A server that only .keyframe.json names is sent no token until you sign in there or name it yourself.

Exit codes:
${exitCodeLines.join('\n')}
  run ends with the exit code of the program that it ran.`;
