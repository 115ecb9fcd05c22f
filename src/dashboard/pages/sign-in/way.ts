import type { SignInMethod } from '../../api/sign-in.ts';

/** What each way to sign in gets. */
export interface WayProps {
  /** What the server says of it. */
  readonly method: SignInMethod;
  /** Where the user goes after the sign-in: a path of this server. */
  readonly returnTo: string;
  /** Whether a signed-in user must sign in once more. */
  readonly again: boolean;
}
