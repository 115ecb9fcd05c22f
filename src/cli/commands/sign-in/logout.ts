import { defineCommand } from '../../core/command.ts';
import type { SessionOutput } from '../../output/shapes.ts';
import { signInsOf, withoutToken } from '../../settings/sign-ins.ts';
import { changeUserFile } from '../../settings/user-file.ts';

/** `logout`. */
export const logoutCommand = defineCommand({
  summary: 'Remove the stored token',
  description:
    'Removes the token that login or token set stored for the server or profile. The token stays valid until it is revoked.',
  examples: [
    { line: 'logout', note: 'Remove the token for the default server' },
    { line: 'logout --profile staging', note: 'Remove a profile' },
  ],
  async run({ configuration, environment, printer }) {
    const { user, profile } = configuration;
    const url = configuration.givenUrl ?? user.url;
    const path = environment.userFile;
    const key = { profile, url };
    const value = { url: url ?? null, path, isTokenStored: false } satisfies SessionOutput;
    if (signInsOf(withoutToken(user, key)).length === signInsOf(user).length)
      return await printer.done({ value, sentence: 'No token is stored.', name: path });
    changeUserFile(path, (present) => withoutToken(present, key));
    const sentence = 'Signed out: the stored token is removed. To revoke it: keyframe token revoke <id>';
    await printer.done({ value, sentence, name: path });
  },
});
