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
    "The token is tried on the server and then stored, with the server's address, in a file that only you can read. " +
    'Without --token it is asked for at the terminal and not shown.',
  options: {
    token: text(
      '--token <token>',
      'The token; - reads it from standard input, which keeps it out of the shell history',
    ),
  },
  examples: [
    { line: 'login --url https://keyframe.example.com', note: 'Asks for the token' },
    { line: 'login --url https://keyframe.example.com --token - < token.txt', note: 'Reads it from a file' },
  ],
  async run(context, { options }) {
    const { configuration, environment, io } = context;
    const { url } = configuration;
    configuration.requireProtectedTransport(url);
    if (configuration.isUrlFromFolder) {
      await context.confirm(
        `${configuration.foundFolder?.file.path ?? ''} says that the server is ${url}. Send the token there?`,
      );
    }
    const token = await givenToken(context, url, options.token);
    const me = await new ApiClient({ url, token }).get<MeView>('/me');
    // Another server may answer anything with 200.
    if (!['user', 'service_token'].includes(me.type)) throw foreignAnswer(url, 200);
    writeUserFile(environment.userFile, { url, token });
    await context.printer.object({ value: me, fields: [['Server', url], ...meFields(me)], name: me.name });
    io.note(`Signed in; the token is stored in ${environment.userFile}.`);
    if (environment.token !== undefined || environment.tokenFile !== undefined) {
      io.warn('KEYFRAME_TOKEN or KEYFRAME_TOKEN_FILE is set in this shell, and is used instead of what was stored');
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
      'which token? There is no terminal to ask at',
      'Give it on standard input: keyframe login --token - < token.txt',
    );
  }
  const answer = await io.askHidden(`Token for ${url}:`);
  return tokenOf(answer ?? '', 'what was typed');
}
