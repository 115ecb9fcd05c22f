import { usageError } from '../../core/cli-error.ts';
import { defineCommand } from '../../core/command.ts';
import { storableToken } from '../../settings/token-form.ts';
import { argument } from '../../core/options.ts';
import type { SessionOutput } from '../../output/shapes.ts';
import { withToken } from '../../settings/sign-ins.ts';
import { changeUserFile } from '../../settings/user-file.ts';

/** `token set <token>`: docs/interface.md 4.9. It calls no server; login does. */
export const tokenSetCommand = defineCommand({
  summary: 'Store a token for later commands',
  description:
    'Stores the token with the address from --url or KEYFRAME_URL in a file that only you can read. The token is not checked; keyframe login does that. With an address, the token is sent only to that server.',
  arguments: {
    token: argument('<token>', 'The token; - reads it from standard input, which keeps it out of the shell history'),
  },
  examples: [
    { line: 'token set - < token.txt', note: 'From a file' },
    { line: 'token set kf_svc_…', note: 'From the command line, which the shell can store in its history' },
  ],
  async run({ configuration, environment, io, printer }, { args }) {
    const text = args.token === '-' ? (await io.readInput()).toString('utf8') : args.token;
    const token = storableToken(text, args.token === '-' ? 'standard input' : 'the argument');
    if (!/^kf_(?:svc|pat)_/.test(token)) {
      throw usageError('this is not a Keyframe token: they begin with kf_svc_ or kf_pat_', 'Copy the whole token');
    }
    const url = configuration.givenUrl ?? configuration.user.url;
    const { profile } = configuration;
    if (profile !== undefined && url === undefined) {
      throw usageError(`profile ${profile} needs the address of its server`, 'Add --url, or set KEYFRAME_URL');
    }
    changeUserFile(environment.userFile, (present) => withToken(present, { profile, url }, token));
    const path = environment.userFile;
    const value = { url: url ?? null, path, isTokenStored: true } satisfies SessionOutput;
    const sentence = `The token${url === undefined ? '' : ` for ${url}`} is stored in ${path}.`;
    await printer.done({ value, sentence, name: path });
  },
});
