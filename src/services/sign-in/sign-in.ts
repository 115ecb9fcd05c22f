import type { OidcSignIn } from './oidc.ts';

/** A way in which users sign in. */
export type OfferedMethod = { readonly type: 'oidc'; readonly name: string } | { readonly type: 'personal_token' };

export interface SignInDeps {
  /** Whether users may approve a command on another machine. */
  readonly deviceLogin: boolean;
  /** Undefined without an issuer. */
  readonly oidc: OidcSignIn | undefined;
}

/** What this server offers at a sign-in. */
export class SignIn {
  readonly deviceLogin: boolean;
  /** Undefined without an issuer. */
  readonly oidc: OidcSignIn | undefined;

  constructor({ deviceLogin, oidc }: SignInDeps) {
    this.deviceLogin = deviceLogin;
    this.oidc = oidc;
  }

  /** The usual way first. A pasted personal token always works. */
  methods(): readonly OfferedMethod[] {
    const pasted = { type: 'personal_token' } as const;
    return this.oidc === undefined ? [pasted] : [{ type: 'oidc', name: this.oidc.name }, pasted];
  }
}
