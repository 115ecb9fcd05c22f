/** What each way to sign in gets. */
export interface WayProps {
  /** Where the user goes after the sign-in: a path of this server. */
  readonly returnTo: string;
}
