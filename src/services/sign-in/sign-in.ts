import type { Database } from '../../store/database.ts';
import { readSignInIsOpen, setSignInOpen } from '../../store/sign-in-state.ts';
import type { InstanceAccess } from '../access/access.ts';
import { requireRecentSignIn } from '../access/refusals.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { auditedFailure, instanceCall, successRecord } from '../audit/audited.ts';
import { makeChange } from '../change/change.ts';
import type { OidcSignIn } from './oidc.ts';
import type { PasskeySignIn } from './passkey-sign-in.ts';
import type { PasskeysOff } from './passkeys.ts';

/** A way in which users sign in. */
export type OfferedMethod =
  | { readonly type: 'oidc'; readonly name: string }
  | { readonly type: 'passkey'; readonly origin: string }
  | { readonly type: 'personal_token' };

/** How users sign in now. */
export interface SignInOffer {
  /** Whether they can sign in with more than a personal token. */
  readonly open: boolean;
  /** The usual way first. */
  readonly methods: readonly OfferedMethod[];
}

export interface SignInDeps {
  readonly database: Pick<Database, 'pool' | 'transactionPool'>;
  readonly audit: Pick<AuditLog, 'recordFailure'>;
  /** The origin at which browsers reach this server; undefined if it is not configured. */
  readonly publicUrl?: string | undefined;
  /** Whether users may approve a command on another machine. */
  readonly deviceLogin: boolean;
  /** Undefined without an issuer. */
  readonly oidc: OidcSignIn | undefined;
  /** Or why there are none. */
  readonly passkeys: PasskeySignIn | PasskeysOff;
}

/** What this server offers at a sign-in (docs/interface.md 4, "Sessions"). */
export class SignIn {
  /** The origin at which browsers reach this server; undefined if it is not configured. */
  readonly publicUrl: string | undefined;
  readonly deviceLogin: boolean;
  /** Undefined without an issuer. */
  readonly oidc: OidcSignIn | undefined;
  /** Or why there are none. */
  readonly passkeys: PasskeySignIn | PasskeysOff;
  readonly #deps: SignInDeps;

  constructor(deps: SignInDeps) {
    this.publicUrl = deps.publicUrl;
    this.deviceLogin = deps.deviceLogin;
    this.oidc = deps.oidc;
    this.passkeys = deps.passkeys;
    this.#deps = deps;
  }

  /** How users sign in now. A pasted personal token always works. */
  async offer(): Promise<SignInOffer> {
    const open = await readSignInIsOpen(this.#deps.database.pool);
    const pasted = { type: 'personal_token' } as const;
    if (!open) return { open, methods: [pasted] };
    const { passkeys } = this;
    const issuer: OfferedMethod[] = this.oidc === undefined ? [] : [{ type: 'oidc', name: this.oidc.name }];
    const others: OfferedMethod[] =
      typeof passkeys === 'string' ? issuer : [...issuer, { type: 'passkey', origin: passkeys.origin }];
    return { open, methods: [...others, pasted] };
  }

  /**
   * Opens or closes sign-in with more than a personal token. Sessions that have begun go on. Repeating it changes nothing.
   * In a session, opening needs a recent sign-in.
   */
  async setOpen(access: InstanceAccess<'sign_in.update'>, isOpen: boolean): Promise<void> {
    const call = instanceCall(access);
    await auditedFailure(this.#deps.audit, call, async (note) => {
      note({ open: isOpen });
      if (isOpen) requireRecentSignIn(access, 'opening sign-in');
      await makeChange(this.#deps, access, async (tx) => {
        const isChanged = await setSignInOpen(tx, isOpen);
        const more = isChanged ? {} : { unchanged: true };
        return { result: undefined, audit: successRecord(call, { open: isOpen, ...more }) };
      });
    });
  }
}
