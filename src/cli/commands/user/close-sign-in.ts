import { defineCommand } from '../../core/command.ts';
import { setSignIn } from './sign-in.ts';

/** `user close-sign-in`, for administrators of the server. */
export const userCloseSignInCommand = defineCommand({
  summary: 'Let users sign in to the dashboard with a personal token only',
  description:
    'For an identity provider that is not trusted any more. Sessions that have begun go on: `keyframe session end --all --user EMAIL` ' +
    'ends those of a user.',
  examples: [{ line: 'user close-sign-in', note: 'Until user open-sign-in' }],
  async run(context) {
    await setSignIn(context, false);
  },
});
