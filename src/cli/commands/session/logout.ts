import { defineCommand } from '../../command.ts';
import type { SessionOutput } from '../../output/shapes.ts';
import { writeUserFile } from '../../settings/user-file.ts';

/** `logout`. */
export const logoutCommand = defineCommand({
  summary: 'Remove the stored token',
  description: 'Removes the token that login or token set stored. The token stays valid until it is revoked.',
  examples: [{ line: 'logout', note: 'Remove the token' }],
  async run({ configuration, environment, printer }) {
    const { token, url } = configuration.user;
    const path = environment.userFile;
    const value = { url: url ?? null, path, isTokenStored: false } satisfies SessionOutput;
    if (token === undefined) return await printer.done({ value, sentence: 'No token is stored.', name: path });
    writeUserFile(path, url === undefined ? {} : { url });
    const sentence = 'Signed out: the stored token is removed. To revoke it: keyframe token revoke <id>';
    await printer.done({ value, sentence, name: path });
  },
});
