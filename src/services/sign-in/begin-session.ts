import { randomUUID } from 'node:crypto';
import { generateToken, parseToken } from '../../crypto/token.ts';
import type { Plaintext } from '../../domain/plaintext.ts';
import { notifyUsers } from '../../store/notify.ts';
import * as store from '../../store/sessions.ts';
import { isSignInOpen } from '../../store/sign-in-state.ts';
import type { Transaction } from '../../store/transaction.ts';
import { SignInRefusal } from './sign-in-refusal.ts';

export interface SessionStart {
  readonly userId: string;
  readonly proof: store.SignInProof;
  /** The session that the browser had, if any. It ends if it is the same user's. */
  readonly formerId: string | undefined;
  readonly sourceAddress: string | null;
  /** What the browser calls itself. */
  readonly userAgent: string | undefined;
}

export interface CreatedSession {
  readonly session: store.SessionRecord;
  /** For the cookie: only its hash is stored. */
  readonly token: Plaintext;
}

const userAgentLength = 200;

/** The id of the session that a browser had, by its token; undefined for none. */
export function formerSessionId(token: string | undefined): string | undefined {
  const former = token === undefined ? undefined : parseToken(token);
  return former?.kind === 'session' ? former.credentialId : undefined;
}

/**
 * Begins a session of a user who is locked. Throws SignInRefusal sign_in_closed, unless the user has a personal token.
 */
export async function beginSession(
  tx: Transaction,
  { userId, proof, formerId, sourceAddress, userAgent }: SessionStart,
): Promise<CreatedSession> {
  const id = randomUUID();
  const { token, hash: tokenHash } = generateToken('session', id);
  // Users may end any session of their own, so the id is enough.
  if (formerId !== undefined) await store.endSession(tx, userId, formerId);
  await store.makeRoomForSession(tx, userId);
  // Not earlier: from here on, a recovery that closes sign-in waits for the end of this session's insertion.
  if (!('personalTokenId' in proof) && !(await isSignInOpen(tx))) throw new SignInRefusal('sign_in_closed');
  const facts = { sourceAddress, userAgent: userAgent?.slice(0, userAgentLength) ?? null };
  const session = await store.insertSession(tx, { id, userId, tokenHash, proof, ...facts });
  // Streams of the sessions that this one replaces end.
  await notifyUsers(tx, [userId]);
  return { session, token };
}
