import type { MeView } from '../../../wire/me.ts';
import { foreignAnswer } from '../../../client/answer-error.ts';
import { usageError } from '../../cli-error.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import { tokenOf } from '../../settings/configuration.ts';
import { flag, text } from '../../options.ts';
import type { SignInListOutput } from '../../output/shapes.ts';
import { signInsOf, withToken } from '../../settings/sign-ins.ts';
import { writeUserFile } from '../../settings/user-file.ts';
import { meFields } from './me-fields.ts';

/** `login`. */
export const loginCommand = defineCommand({
  summary: 'Sign in: check a token and store it',
  description:
    'Checks the token with the server, then stores it with the address of the server in a file that only you can read. Without --token it prompts for the token without showing it. The server becomes the default. Tokens of other servers stay, and are used if --url, KEYFRAME_URL or .keyframe.json names their server. With --profile, the sign-in gets a name and does not become the default: use it with --profile or KEYFRAME_PROFILE, for example as another user of the same server.',
  options: {
    token: text(
      '--token <token>',
      'The token; - reads it from standard input, which keeps it out of the shell history',
    ),
    isList: flag('--list', 'List the stored sign-ins, and sign in nowhere'),
  },
  examples: [
    { line: 'login --list', note: 'The stored sign-ins, without their tokens' },
    { line: 'login --profile staging --url https://staging.example.com', note: 'A second sign-in with a name' },
    { line: 'login --url https://keyframe.example.com', note: 'Prompt for the token' },
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
    const token = await givenToken(context, url, options.token);
    const me = await context.client({ url, token }).get<MeView>('/me');
    // Another server can return 200 for anything.
    if (!['user', 'service_token'].includes(me.type)) throw foreignAnswer(url, 200);
    writeUserFile(environment.userFile, withToken(configuration.user, { profile: configuration.profile, url }, token));
    await context.printer.object({ value: me, fields: [['Server', url], ...meFields(me)], name: me.name });
    io.note(`Signed in; the token is stored in ${environment.userFile}.`);
    if (environment.token !== undefined || environment.tokenFile !== undefined) {
      io.warn('KEYFRAME_TOKEN or KEYFRAME_TOKEN_FILE is set in this shell and overrides the stored token');
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

async function givenToken({ io, configuration }: CommandContext, url: string, given?: string): Promise<string> {
  if (given === '-') return tokenOf((await io.readInput()).toString('utf8'), 'standard input');
  if (given !== undefined) return tokenOf(given, '--token');
  const { flagToken } = configuration;
  if (flagToken !== undefined) return flagToken;
  if (!io.canAsk) {
    throw usageError(
      'no token was given, and there is no terminal to prompt at',
      'Give it on standard input: keyframe login --token - < token.txt',
    );
  }
  const answer = await io.askHidden(`Token for ${url}:`);
  return tokenOf(answer ?? '', 'the input');
}
