import type { Option } from './options.ts';
import { choice, completing, flag, integer, text } from './options.ts';
import { outputFormats } from '../terminal/printer.ts';

/** The options of every command. They can precede or follow the name of the command. */
export const globalOptions = {
  url: text('--url <address>', 'Address of the server (default: KEYFRAME_URL, .keyframe.json, stored by login)'),
  tokenFile: completing(
    'file',
    text('--token-file <path>', 'File that contains the token (default: KEYFRAME_TOKEN, stored by login)'),
  ),
  profile: text('--profile <name>', 'Name of a stored sign-in (or KEYFRAME_PROFILE)'),
  allowsInsecureHttp: flag(
    '--insecure-http',
    'Allow sending the token unencrypted over http to another machine (or KEYFRAME_INSECURE_HTTP=1)',
  ),
  timeout: integer(
    '--timeout <seconds>',
    'Give up if the server is silent for this long (default: 10 for reads, 60 for writes)',
    {
      min: 1,
      max: 3600,
    },
  ),
  output: choice('--output <format>', 'Output format (default: table); token prints only a new token', outputFormats),
  isJson: flag('--json', 'Same as --output json'),
  isUncolored: flag('--no-color', 'Disable colors (or NO_COLOR)'),
  isConfirmed: flag('-y, --yes', 'Answer yes to confirmations'),
};

/** Their values; absent if an option was not given. */
export interface GlobalValues {
  readonly url?: string;
  readonly tokenFile?: string;
  readonly profile?: string;
  readonly output?: (typeof outputFormats)[number];
  readonly timeout?: number;
  readonly allowsInsecureHttp: boolean;
  readonly isColored: boolean;
  readonly isConfirmed: boolean;
}

export const globalOptionList: readonly Option<unknown>[] = Object.values(globalOptions);
