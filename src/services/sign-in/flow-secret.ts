import { createHash, createHmac, randomBytes } from 'node:crypto';
import { Plaintext } from '../../domain/plaintext.ts';
import type { FlowSecrets } from '../../identity/issuer.ts';

/**
 * The secret of one sign-in: 256 random bits, which only the cookie of its browser has. State, nonce, code verifier and
 * challenge are derived from it, so that the database needs only its hash, and every replica can finish the sign-in.
 */
export class FlowSecret {
  readonly #bytes: Buffer;

  private constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  static generate(): FlowSecret {
    return new FlowSecret(randomBytes(32));
  }

  /** Parses the value of a cookie; undefined for anything else. */
  static parse(text: string): FlowSecret | undefined {
    return /^[A-Za-z0-9_-]{43}$/.test(text) ? new FlowSecret(Buffer.from(text, 'base64url')) : undefined;
  }

  /** For the cookie. */
  get text(): Plaintext {
    return new Plaintext(this.#bytes.toString('base64url'));
  }

  /** What the database has of it. */
  get hash(): Buffer<ArrayBuffer> {
    return createHash('sha256').update(this.#bytes).digest();
  }

  get secrets(): FlowSecrets {
    return {
      state: this.#derive('state'),
      nonce: this.#derive('nonce'),
      codeVerifier: this.#derive('code verifier'),
    };
  }

  /** For the authenticator of a passkey, as base64url. */
  get challenge(): string {
    return this.#derive('challenge');
  }

  /** 43 characters of base64url, which is what RFC 7636 needs at least. */
  #derive(purpose: string): string {
    return createHmac('sha256', this.#bytes).update(`keyframe sign-in: ${purpose}`).digest('base64url');
  }
}
