/** A way in which users sign in. */
export interface OfferedMethod {
  readonly type: 'personal_token';
}

export interface SignInDeps {
  /** Whether users may approve a command on another machine. */
  readonly deviceLogin: boolean;
}

/** What this server offers at a sign-in. */
export class SignIn {
  readonly deviceLogin: boolean;

  constructor({ deviceLogin }: SignInDeps) {
    this.deviceLogin = deviceLogin;
  }

  /** A pasted personal token always works. */
  methods(): readonly OfferedMethod[] {
    return [{ type: 'personal_token' }];
  }
}
