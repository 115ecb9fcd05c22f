import type { CommandDefinition } from './command.ts';
import { exitCodeMeanings } from './exit-codes.ts';
import { globalOptionList } from './global-options.ts';
import { outputFormats } from '../terminal/printer.ts';

const outputForm = `--output <${outputFormats.join('|')}>`;

const forms = globalOptionList.map(({ flags }) => flags.replace(', ', '/').replace('--output <format>', outputForm));

/** The options of every command, on lines of an ordinary terminal. */
export const globalOptionHelp = wrapped(`Global options (keyframe --help): ${forms.join(', ')}`, 80);

/** The text below the help of a command: the options of every command, and its examples. */
export function commandHelp({ examples }: CommandDefinition): string {
  const lines = examples.map(({ line, note }) => `  # ${note}\n  keyframe ${line}`);
  return `\n${globalOptionHelp}\n\nExamples:\n${lines.join('\n')}`;
}

/** Breaks a list at its commas. */
function wrapped(text: string, width: number): string {
  const lines = [''];
  for (const part of text.split(/(?<=, )/)) {
    const line = (lines.at(-1) ?? '') + part;
    if (line.trimEnd().length <= width) lines[lines.length - 1] = line;
    else lines.push(`  ${part}`);
  }
  return lines.map((line) => line.trimEnd()).join('\n');
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
  token        --token-file, --profile, KEYFRAME_TOKEN or KEYFRAME_TOKEN_FILE, KEYFRAME_AUDIENCE, KEYFRAME_PROFILE, login for that server
  environment  -o, -p, -e; KEYFRAME_ORG, KEYFRAME_PROJECT, KEYFRAME_ENV; .keyframe.json; scope of the service token
  variables    of run: --only, KEYFRAME_RUN_VARIABLES, .keyframe.json, else those of the last run
A .keyframe.json is used if keyframe init wrote it, or after keyframe trust (in CI: KEYFRAME_TRUST_FOLDER=1).
A token is a personal or service token, or the JWT of a pipeline or pod. With KEYFRAME_AUDIENCE, the runner of GitHub gives it.
Over http the token is sent only to this machine, unless --insecure-http or KEYFRAME_INSECURE_HTTP=1 is set.
Proxies: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, as curl has them.
If only .keyframe.json names the server, no token is sent until you sign in there or set --url or KEYFRAME_URL.

Exit codes:
${exitCodeLines.join('\n')}
  run ends with the exit code of the program.

The server has the pages that help texts name, such as /docs/cli-files.md.`;
