/** A way in which users sign in. */
export interface OfferedMethod {
  readonly type: 'personal_token';
}

/** What this server offers at a sign-in. */
export class SignIn {
  /** A pasted personal token always works. */
  methods(): readonly OfferedMethod[] {
    return [{ type: 'personal_token' }];
  }
}
