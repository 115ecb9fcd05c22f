import type { MeView } from '../../../wire/me.ts';
import { ApiClient } from '../../../client/api-client.ts';
import { foreignAnswer } from '../../../client/answer-error.ts';
import { usageError } from '../../cli-error.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import { tokenOf } from '../../settings/configuration.ts';
import { text } from '../../options.ts';
import { writeUserFile } from '../../settings/user-file.ts';
import { meFields } from './me-fields.ts';

/** `login`. */
export const loginCommand = defineCommand({
  summary: 'Sign in: check a token and store it',
  description:
    'Checks the token with the server, then stores it with the address of the server in a file that only you can read. Without --token it prompts for the token without showing it.',
  options: {
    token: text(
      '--token <token>',
      'The token; - reads it from standard input, which keeps it out of the shell history',
    ),
  },
  examples: [
    { line: 'login --url https://keyframe.example.com', note: 'Prompt for the token' },
    { line: 'login --url https://keyframe.example.com --token - < token.txt', note: 'Read the token from a file' },
  ],
  async run(context, { options }) {
    const { configuration, environment, io } = context;
    const { url } = configuration;
    configuration.requireProtectedTransport(url);
    if (configuration.isUrlFromFolder) {
      await context.confirm(
        `${configuration.foundFolder?.file.path ?? ''} names the server ${url}. Send the token there?`,
      );
    }
    const token = await givenToken(context, url, options.token);
    const me = await new ApiClient({ url, token }).get<MeView>('/me');
    // Another server can return 200 for anything.
    if (!['user', 'service_token'].includes(me.type)) throw foreignAnswer(url, 200);
    writeUserFile(environment.userFile, { url, token });
    await context.printer.object({ value: me, fields: [['Server', url], ...meFields(me)], name: me.name });
    io.note(`Signed in; the token is stored in ${environment.userFile}.`);
    if (environment.token !== undefined || environment.tokenFile !== undefined) {
      io.warn('KEYFRAME_TOKEN or KEYFRAME_TOKEN_FILE is set in this shell and overrides the stored token');
    }
  },
});

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
