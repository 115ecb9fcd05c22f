import { foreignAnswer } from '../../../client/answer-error.ts';
import { call } from '../../../client/call.ts';
import { usageError } from '../../core/cli-error.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import { storableToken } from '../../settings/token-form.ts';
import { flag, text } from '../../core/options.ts';
import type { SignInListOutput } from '../../output/shapes.ts';
import { signInsOf, withToken } from '../../settings/sign-ins.ts';
import { changeUserFile } from '../../settings/user-file.ts';
import { hasBrowser, loginInBrowser, loginOnOtherMachine } from './browser-login.ts';
import { meFields } from './me-fields.ts';

/** `login`. */
export const loginCommand = defineCommand({
  summary: 'Sign in in a browser or with a token, and store the token',
  description:
    'At a terminal with a browser, it opens a page in which you approve the sign-in; the token then ends after 30 days. --device prints an address and a code for a browser on another machine. Without a browser, it prompts for a token without showing it. It checks the token with the server, then stores it with the address of the server in a file that only you can read. The server becomes the default. Tokens of other servers stay, and are used if --url, KEYFRAME_URL or .keyframe.json names their server. With --profile, the sign-in gets a name and does not become the default: use it with --profile or KEYFRAME_PROFILE, for example as another user of the same server.',
  options: {
    token: text(
      '--token <token>',
      'The token; - reads it from standard input, which keeps it out of the shell history',
    ),
    device: flag('--device', 'Approve the sign-in in a browser on another machine'),
    browser: flag('--browser', 'Approve the sign-in in the browser of this machine'),
    isList: flag('--list', 'List the stored sign-ins, and sign in nowhere'),
  },
  examples: [
    { line: 'login --list', note: 'The stored sign-ins, without their tokens' },
    { line: 'login --profile staging --url https://staging.example.com', note: 'A second sign-in with a name' },
    { line: 'login --url https://keyframe.example.com', note: 'In a browser, or with a prompt for the token' },
    { line: 'login --url https://keyframe.example.com --device', note: 'With a browser on another machine' },
    { line: 'login --url https://keyframe.example.com --token - < token.txt', note: 'Read the token from a file' },
  ],
  async run(context, { options }) {
    if (options.isList) return await listSignIns(context);
    const { configuration, environment, io } = context;
    const { url } = configuration;
    configuration.requireProtectedTransport(url);
    if (configuration.isUrlFromFolder) {
      await context.confirm(
        `${configuration.foundFolder?.file.path ?? ''} names the server ${url}. Send the token there?`,
      );
    }
    const token = await chosenToken(context, url, options);
    const { body: me } = await call(context.client({ url, token }), 'GET /me');
    // Another server can return 200 for anything.
    if (!['user', 'service_token'].includes(me.type)) throw foreignAnswer(url, 200);
    const { profile } = configuration;
    changeUserFile(environment.userFile, (present) => withToken(present, { profile, url }, token));
    await context.printer.object({ value: me, fields: [['Server', url], ...meFields(me)], name: me.name });
    io.note(`Signed in; the token is stored in ${environment.userFile}.`);
    const { token: variable, tokenFile, audience } = environment;
    if (variable !== undefined || tokenFile !== undefined || audience !== undefined) {
      const variables = 'KEYFRAME_TOKEN, KEYFRAME_TOKEN_FILE or KEYFRAME_AUDIENCE';
      io.warn(`${variables} is set in this shell and overrides the stored token`);
    }
  },
});

async function listSignIns({ configuration, printer }: CommandContext): Promise<void> {
  const signIns = signInsOf(configuration.user);
  await printer.list({
    value: { signIns } satisfies SignInListOutput,
    rows: signIns,
    columns: [
      { title: 'PROFILE', cell: ({ profile }) => profile },
      { title: 'SERVER', cell: ({ url }) => url },
      { title: 'DEFAULT', cell: ({ isDefault }) => (isDefault ? 'yes' : '') },
    ],
    name: ({ profile, url }) => profile ?? url ?? '',
    whenEmpty: 'No token is stored. Sign in: keyframe login --url <address>',
  });
}

interface Ways {
  readonly token: string | undefined;
  readonly device: boolean;
  readonly browser: boolean;
}

async function chosenToken(context: CommandContext, url: string, { token, device, browser }: Ways): Promise<string> {
  const { configuration, environment, io } = context;
  const ways = [token !== undefined || configuration.flagToken !== undefined, device, browser].filter(Boolean).length;
  if (ways > 1) throw usageError('give one of --token, --token-file, --device and --browser');
  if (device) return loginOnOtherMachine(context, url);
  const isDefault = ways === 0 && io.canAsk && hasBrowser(environment.variables);
  if (browser || isDefault) return loginInBrowser(context, url);
  return givenToken(context, url, token);
}

async function givenToken({ io, configuration }: CommandContext, url: string, given?: string): Promise<string> {
  if (given === '-') return storableToken((await io.readInput()).toString('utf8'), 'standard input');
  if (given !== undefined) return storableToken(given, '--token');
  const { flagToken } = configuration;
  if (flagToken !== undefined) return storableToken(await flagToken.current(), '--token-file');
  if (!io.canAsk) {
    throw usageError(
      'no token was given, and there is no terminal to prompt at',
      'Give it on standard input: keyframe login --token - < token.txt',
      'Or approve the sign-in in a browser: keyframe login --device',
    );
  }
  const answer = await io.askHidden(`Token for ${url}:`);
  return storableToken(answer ?? '', 'the input');
}
