import type { Option } from './options.ts';
import { choice, completing, flag, text } from './options.ts';
import { outputFormats } from './terminal/printer.ts';

/** The options of every command. They may stand before the command's name as well as behind it. */
export const globalOptions = {
  url: text('--url <address>', 'Address of the server (default: KEYFRAME_URL, .keyframe.json, what login stored)'),
  tokenFile: completing(
    'file',
    text('--token-file <path>', 'File that holds the token (default: KEYFRAME_TOKEN, what login stored)'),
  ),
  allowsInsecureHttp: flag(
    '--insecure-http',
    'Send the token over http to another machine, readable on the way (or KEYFRAME_INSECURE_HTTP=1)',
  ),
  output: choice('--output <format>', 'Form of the result (default: table)', outputFormats),
  isUncolored: flag('--no-color', 'No colours, as with the variable NO_COLOR'),
  isConfirmed: flag('-y, --yes', 'Answer yes to what the command asks before it goes on'),
};

/** What they were given as; absent where they were not. */
export interface GlobalValues {
  readonly url?: string;
  readonly tokenFile?: string;
  readonly output?: (typeof outputFormats)[number];
  readonly allowsInsecureHttp: boolean;
  readonly isColored: boolean;
  readonly isConfirmed: boolean;
}

export const globalOptionList: readonly Option<unknown>[] = Object.values(globalOptions);
