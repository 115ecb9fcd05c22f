import type { Database } from '../../store/database.ts';
import { readSignInIsOpen, setSignInOpen } from '../../store/sign-in-state.ts';
import type { InstanceAccess } from '../access/access.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { auditedFailure, instanceCall, successRecord } from '../audit/audited.ts';
import { makeChange } from '../kernel/change.ts';
import type { OidcSignIn } from './oidc.ts';

/** A way in which users sign in. */
export type OfferedMethod = { readonly type: 'oidc'; readonly name: string } | { readonly type: 'personal_token' };

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
}

/** What this server offers at a sign-in (docs/interface.md 4, "Sessions"). */
export class SignIn {
  /** The origin at which browsers reach this server; undefined if it is not configured. */
  readonly publicUrl: string | undefined;
  readonly deviceLogin: boolean;
  /** Undefined without an issuer. */
  readonly oidc: OidcSignIn | undefined;
  readonly #deps: SignInDeps;

  constructor(deps: SignInDeps) {
    this.publicUrl = deps.publicUrl;
    this.deviceLogin = deps.deviceLogin;
    this.oidc = deps.oidc;
    this.#deps = deps;
  }

  /** How users sign in now. A pasted personal token always works. */
  async offer(): Promise<SignInOffer> {
    const open = await readSignInIsOpen(this.#deps.database.pool);
    const pasted = { type: 'personal_token' } as const;
    const isOffered = open && this.oidc !== undefined;
    return { open, methods: isOffered ? [{ type: 'oidc', name: this.oidc.name }, pasted] : [pasted] };
  }

  /**
   * Opens or closes sign-in with more than a personal token. Sessions that have begun go on. Repeating it changes nothing.
   */
  async setOpen(access: InstanceAccess<'sign_in.update'>, isOpen: boolean): Promise<void> {
    const call = instanceCall(access);
    await auditedFailure(this.#deps.audit, call, async (note) => {
      note({ open: isOpen });
      await makeChange(this.#deps, access, async (tx) => {
        const isChanged = await setSignInOpen(tx, isOpen);
        const more = isChanged ? {} : { unchanged: true };
        return { result: undefined, audit: successRecord(call, { open: isOpen, ...more }) };
      });
    });
  }
}
