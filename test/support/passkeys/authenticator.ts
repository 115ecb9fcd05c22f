import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type {
  CreatePasskeyBody,
  PasskeyCreationView,
  PasskeyRequestView,
  PasskeySessionBody,
} from '../../../src/wire/passkeys.ts';
import { cbor } from './cbor.ts';

/** How a response differs from that of an honest browser and authenticator. */
export interface Forgery {
  readonly origin?: string;
  readonly crossOrigin?: boolean;
  readonly type?: string;
  readonly challenge?: string;
  readonly rpId?: string;
  /** Whether the user was verified. */
  readonly isVerified?: boolean;
  readonly counter?: number;
  readonly userHandle?: string | null;
  /** Another key signs. */
  readonly key?: KeyObject;
  /** Format and statement of the attestation. */
  readonly attestation?: readonly [format: string, statement: Parameters<typeof cbor>[0]];
}

/** A browser and an authenticator in one, with one passkey (P-256). It counts, unless `counter` is 0. */
export class TestAuthenticator {
  readonly key: KeyObject;
  readonly #point: { readonly x: string; readonly y: string };
  readonly credentialId = randomBytes(32);
  readonly #origin: string;
  /** At the last use. */
  counter = 0;
  userHandle = '';

  constructor(origin: string) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    this.key = privateKey;
    this.#point = { x, y };
    this.#origin = origin;
  }

  get id(): string {
    return this.credentialId.toString('base64url');
  }

  /** As `navigator.credentials.create`. */
  create(options: PasskeyCreationView, forgery: Forgery = {}): Omit<CreatePasskeyBody, 'name'> {
    this.userHandle = options.user.id;
    this.counter = 1;
    const [format, statement] = forgery.attestation ?? ['none', []];
    const coseKey = cbor([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(this.#point.x, 'base64url')],
      [-3, Buffer.from(this.#point.y, 'base64url')],
    ]);
    const length = Buffer.from([0, this.credentialId.length]);
    const credential = Buffer.concat([Buffer.alloc(16), length, this.credentialId, coseKey]);
    const authData = Buffer.concat([this.#data(options.rp.id, 0x40, forgery), credential]);
    const attestationObject = cbor([
      ['fmt', format],
      ['attStmt', statement],
      ['authData', authData],
    ]);
    const clientDataJSON = this.#clientData('webauthn.create', options.challenge, forgery);
    return {
      id: this.id,
      response: {
        clientDataJSON: clientDataJSON.toString('base64url'),
        attestationObject: attestationObject.toString('base64url'),
        transports: ['internal', 'hybrid'],
      },
    };
  }

  /** As `navigator.credentials.get`. */
  get(options: PasskeyRequestView, forgery: Forgery = {}): PasskeySessionBody {
    this.counter += 1;
    const authData = this.#data(options.rpId, 0, forgery);
    const clientData = this.#clientData('webauthn.get', options.challenge, forgery);
    const signed = Buffer.concat([authData, createHash('sha256').update(clientData).digest()]);
    const userHandle = forgery.userHandle === undefined ? this.userHandle : forgery.userHandle;
    return {
      id: this.id,
      response: {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: sign('sha256', signed, forgery.key ?? this.key).toString('base64url'),
        ...(userHandle === null ? {} : { userHandle }),
      },
    };
  }

  #clientData(type: string, challenge: string, forgery: Forgery): Buffer {
    const { origin = this.#origin, crossOrigin = false } = forgery;
    const data = { type: forgery.type ?? type, challenge: forgery.challenge ?? challenge, origin, crossOrigin };
    return Buffer.from(JSON.stringify(data));
  }

  #data(rpId: string, flags: number, { isVerified = true, counter = this.counter, ...forgery }: Forgery): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    const hash = createHash('sha256')
      .update(forgery.rpId ?? rpId)
      .digest();
    return Buffer.concat([hash, Buffer.from([0x01 | (isVerified ? 0x04 : 0) | flags]), count]);
  }
}
