import { defineCommand } from '../../core/command.ts';
import { setSignIn } from './sign-in.ts';

/** `user open-sign-in`, for administrators of the server. */
export const userOpenSignInCommand = defineCommand({
  summary: 'Let users sign in to the dashboard without a personal token',
  description:
    'Sign-in is closed after a restore from a backup, because users who were disabled or unlinked since can sign in ' +
    'again. Check `keyframe user list` first.',
  examples: [{ line: 'user open-sign-in', note: 'After you have checked the users' }],
  async run(context) {
    await setSignIn(context, true);
  },
});
