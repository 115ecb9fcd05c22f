import { defineCommand } from '../../command.ts';
import { writeUserFile } from '../../settings/user-file.ts';

/** `logout`. */
export const logoutCommand = defineCommand({
  summary: 'Forget the stored token',
  description:
    'The token is removed from the file where login or token set stored it. It stays good elsewhere until it is revoked.',
  examples: [{ line: 'logout', note: 'Forget the token' }],
  // The commands all have this form.
  async run({ configuration, environment, io }) {
    const { token, url } = configuration.user;
    await Promise.resolve();
    if (token === undefined) {
      io.note('No token is stored.');
      return;
    }
    writeUserFile(environment.userFile, url === undefined ? {} : { url });
    io.note('Signed out: the token is forgotten here. To end it for good: keyframe token revoke <id>');
  },
});
