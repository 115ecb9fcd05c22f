import type { ErrorCode } from '../../domain/errors/catalogue.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { limits } from '../../domain/limits.ts';
import type { Actor } from '../../domain/principal.ts';

interface Refusal {
  readonly code: ErrorCode;
  /** For the user: why, and what to do. */
  readonly detail: string;
}

const startAgain = 'Start the sign-in again.';

/** What a user does who signed in with a personal token that expires, and wants to set up a way to sign in. */
export const signInOtherwise =
  'Sign in with a passkey, with a linked account, with a token that does not expire, or with a sign-in link of an instance admin, and repeat it.';

// One sentence, so that it does not reveal which passkeys and users exist.
const passkeyRefused = {
  code: 'unauthenticated',
  detail: 'This passkey does not sign you in here. Try again, or sign in another way.',
} as const;

/** Why a sign-in is refused. The codes are an interface: pages and the audit have them. */
const refusals = {
  invalid_return: {
    code: 'invalid_input',
    detail: 'The parameter returnTo must be a path on this server, such as /environments.',
  },
  unknown_flow: {
    code: 'forbidden',
    detail: `This sign-in was not started in this browser, is finished already, or took longer than ${limits.signInFlowMinutes} minutes. ${startAgain}`,
  },
  state_mismatch: {
    code: 'forbidden',
    detail: `The response belongs to another sign-in, maybe one of another page. ${startAgain}`,
  },
  issuer_unavailable: {
    code: 'overloaded',
    detail:
      'The identity provider does not answer as it should. Try again later, or sign in with a personal token. Administrators find the cause in the log of the server.',
  },
  issuer_refused: {
    code: 'forbidden',
    detail:
      'The identity provider ended the sign-in. Start again, or ask its administrators whether you may use Keyframe.',
  },
  code_refused: {
    code: 'forbidden',
    detail: `The identity provider does not accept the code of this sign-in: it was used already or has expired. ${startAgain}`,
  },
  response_invalid: {
    code: 'forbidden',
    detail: `The response of the identity provider does not prove who signed in. ${startAgain}`,
  },
  not_fresh: {
    code: 'forbidden',
    detail:
      'The identity provider did not ask you to sign in again, or does not say when it did. For this action, use a personal token.',
  },
  address_unverified: {
    code: 'forbidden',
    detail:
      'You have no account here, and the identity provider does not confirm your e-mail address. Ask an administrator to create a user for you. Then sign in with its token and link your account.',
  },
  address_taken: {
    code: 'conflict',
    detail:
      'A user with your e-mail address exists already, and it is not linked to your account at the identity provider. Sign in with a personal token of this user and link the account.',
  },
  identity_taken: {
    code: 'conflict',
    detail: 'Your account at the identity provider is linked to another user. Unlink it there first.',
  },
  identity_present: {
    code: 'conflict',
    detail: 'Another account of the identity provider is linked to your user already. Unlink it first.',
  },
  token_expires: {
    code: 'forbidden',
    detail: `You signed in with a personal token that expires, and the account would outlast it. ${signInOtherwise}`,
  },
  sign_in_closed: {
    code: 'forbidden',
    detail: 'Sign-in is closed. Ask an instance admin to open it, or sign in with a personal token.',
  },
  user_disabled: { code: 'forbidden', detail: 'Your user is disabled. Ask an administrator.' },
  session_ended: {
    code: 'forbidden',
    detail:
      'Your session ended, or its sign-in is too long ago, before the account was linked. Sign in again and repeat it.',
  },
  groups_not_listed: {
    code: 'forbidden',
    detail: `The identity provider did not send all of your groups, or sent more than ${limits.groupsPerUser}. An administrator must limit the groups that it sends.`,
  },
  challenge_unknown: {
    code: 'unauthenticated',
    detail: `This sign-in was not started in this browser, is finished already, or took longer than ${limits.passkeyChallengeMinutes} minutes. ${startAgain}`,
  },
  passkey_unknown: passkeyRefused,
  passkey_invalid: passkeyRefused,
  challenge_mismatch: passkeyRefused,
  wrong_origin: passkeyRefused,
  wrong_rp_id: passkeyRefused,
  user_not_verified: passkeyRefused,
  user_handle_mismatch: passkeyRefused,
  counter_went_back: passkeyRefused,
  // Only after a signature that is right.
  passkey_unusable: {
    code: 'forbidden',
    detail:
      'Your passkey comes from a backup, and does not work until it is confirmed. Sign in another way and confirm it, or ask an administrator.',
  },
} as const satisfies Record<string, Refusal>;

export type SignInFault = keyof typeof refusals;

/** A refused sign-in. Its detail is for the user and contains nothing that the issuer sent. */
export class SignInRefusal extends DomainError {
  readonly fault: SignInFault;
  /** The user whom it concerns, if known, for the audit. */
  readonly user: Actor | undefined;

  constructor(fault: SignInFault, { user, cause }: { readonly user?: Actor; readonly cause?: unknown } = {}) {
    super(refusals[fault].code, refusals[fault].detail, { cause });
    this.fault = fault;
    this.user = user;
  }
}
