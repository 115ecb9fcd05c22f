import {
  type VerifiedAuthenticationResponse,
  type VerifiedRegistrationResponse,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import {
  COSEALG,
  decodeAttestationObject,
  decodeClientDataJSON,
  parseAuthenticatorData,
} from '@simplewebauthn/server/helpers';
import { createHash } from 'node:crypto';

/**
 * What a response of an authenticator does not prove. `response_invalid`: it is malformed, or its signature is not the
 * passkey's.
 */
export type PasskeyFault =
  'challenge_mismatch' | 'wrong_origin' | 'wrong_rp_id' | 'user_not_verified' | 'response_invalid';

/** A refused response, without anything that it contained. */
export class PasskeyError extends Error {
  readonly fault: PasskeyFault;

  constructor(fault: PasskeyFault) {
    super(`the response of a passkey: ${fault}`);
    this.name = 'PasskeyError';
    this.fault = fault;
  }
}

/** What a browser returned for a new passkey. Bytes are base64url. */
export interface RegistrationResponse {
  readonly id: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly attestationObject: string;
    readonly transports?: readonly string[];
  };
}

/** What a browser returned for a sign-in. Bytes are base64url. */
export interface AssertionResponse {
  readonly id: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    readonly userHandle?: string;
  };
}

export interface RegisteredPasskey {
  readonly credentialId: Uint8Array<ArrayBuffer>;
  /** COSE_Key. */
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly counter: number;
  readonly transports: readonly string[];
  /** Whether it is copied to other devices of the user. */
  readonly backedUp: boolean;
}

/** What an authenticator says with a signature of a passkey that is right. */
export interface ProvenAssertion {
  /** The caller compares it with the stored one. */
  readonly counter: number;
  readonly backedUp: boolean;
}

/** The signatures that this server verifies, the preferred one first. */
export const passkeyAlgorithms: readonly number[] = [COSEALG.EdDSA, COSEALG.ES256, COSEALG.RS256];

// An RSA key of 4096 bits has 530.
const maxPublicKeyBytes = 1_024;
const transports: ReadonlySet<string> = new Set(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']);

/** This server as WebAuthn sees it: its passkeys work at one origin. */
export class RelyingParty {
  /** The address at which browsers reach this server. */
  readonly origin: string;
  /** The host of the origin. */
  readonly id: string;

  constructor(origin: string) {
    this.origin = origin;
    this.id = new URL(origin).hostname;
  }

  /**
   * Verifies the response to a registration. Accepts no attestation of a manufacturer: none was requested, and the library
   * would follow addresses in its certificates. Throws PasskeyError.
   */
  async register({ id, response }: RegistrationResponse, challenge: string): Promise<RegisteredPasskey> {
    return verified(async () => {
      const { clientDataJSON, attestationObject } = response;
      this.#checkClientData(clientDataJSON, { type: 'webauthn.create', challenge });
      const attestation = decodeAttestationObject(Buffer.from(attestationObject, 'base64url'));
      const format = attestation.get('fmt');
      const isSelf = format === 'packed' && attestation.get('attStmt').get('x5c') === undefined;
      if (format !== 'none' && !isSelf) throw new PasskeyError('response_invalid');
      this.#checkAuthenticator(attestation.get('authData'));
      const result: VerifiedRegistrationResponse = await verifyRegistrationResponse({
        response: {
          ...envelope(id),
          response: { clientDataJSON, attestationObject },
        },
        expectedChallenge: challenge,
        expectedOrigin: this.origin,
        expectedRPID: this.id,
        requireUserVerification: true,
        supportedAlgorithmIDs: [...passkeyAlgorithms],
      });
      if (!result.verified) throw new PasskeyError('response_invalid');
      const { credential, credentialBackedUp: backedUp } = result.registrationInfo;
      if (credential.id !== id || credential.publicKey.length > maxPublicKeyBytes) {
        throw new PasskeyError('response_invalid');
      }
      return {
        credentialId: Uint8Array.from(Buffer.from(id, 'base64url')),
        publicKey: Uint8Array.from(credential.publicKey),
        counter: credential.counter,
        transports: (response.transports ?? []).filter((name) => transports.has(name)),
        backedUp,
      };
    });
  }

  /** Verifies the response to a sign-in with the key of a passkey. Throws PasskeyError. */
  async assert(
    { id, response }: AssertionResponse,
    { challenge, publicKey }: { readonly challenge: string; readonly publicKey: Uint8Array },
  ): Promise<ProvenAssertion> {
    return verified(async () => {
      const { clientDataJSON, authenticatorData, signature } = response;
      this.#checkClientData(clientDataJSON, { type: 'webauthn.get', challenge });
      this.#checkAuthenticator(Buffer.from(authenticatorData, 'base64url'));
      const result: VerifiedAuthenticationResponse = await verifyAuthenticationResponse({
        response: {
          ...envelope(id),
          response: { clientDataJSON, authenticatorData, signature },
        },
        expectedChallenge: challenge,
        expectedOrigin: this.origin,
        expectedRPID: this.id,
        requireUserVerification: true,
        // The caller compares the counter, under the lock of its user.
        credential: { id, publicKey: Uint8Array.from(publicKey), counter: 0 },
      });
      if (!result.verified) throw new PasskeyError('response_invalid');
      const { newCounter: counter, credentialBackedUp: backedUp } = result.authenticationInfo;
      return { counter, backedUp };
    });
  }

  /** The library checks all of this too. Here it is known which check failed. */
  #checkClientData(text: string, expected: { readonly type: string; readonly challenge: string }): void {
    const { type, challenge, origin, crossOrigin } = decodeClientDataJSON(text);
    if (type !== expected.type) throw new PasskeyError('response_invalid');
    if (challenge !== expected.challenge) throw new PasskeyError('challenge_mismatch');
    if (origin !== this.origin || crossOrigin === true) throw new PasskeyError('wrong_origin');
  }

  #checkAuthenticator(data: Uint8Array<ArrayBuffer>): void {
    const { rpIdHash, flags } = parseAuthenticatorData(data);
    const expected = createHash('sha256').update(this.id).digest();
    if (!expected.equals(rpIdHash)) throw new PasskeyError('wrong_rp_id');
    if (!flags.uv) throw new PasskeyError('user_not_verified');
  }
}

function envelope(id: string) {
  return { id, rawId: id, type: 'public-key', clientExtensionResults: {} } as const;
}

/** The library throws plain errors, whose texts contain parts of the response. */
async function verified<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch (error) {
    if (error instanceof PasskeyError) throw error;
    throw new PasskeyError('response_invalid');
  }
}
