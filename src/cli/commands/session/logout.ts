import { defineCommand } from '../../command.ts';
import { writeUserFile } from '../../settings/user-file.ts';

/** `logout`. */
export const logoutCommand = defineCommand({
  summary: 'Remove the stored token',
  description: 'Removes the token that login or token set stored. The token stays valid until it is revoked.',
  examples: [{ line: 'logout', note: 'Remove the token' }],
  // All commands have this form.
  async run({ configuration, environment, io }) {
    const { token, url } = configuration.user;
    await Promise.resolve();
    if (token === undefined) {
      io.note('No token is stored.');
      return;
    }
    writeUserFile(environment.userFile, url === undefined ? {} : { url });
    io.note('Signed out: the stored token is removed. To revoke it: keyframe token revoke <id>');
  },
});
