// @peculiar/x509 needs what it adds to Reflect.
import 'reflect-metadata';
import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Name,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { Plaintext } from '../domain/plaintext.ts';
import type { CertificatePair } from '../lib/certificate.ts';
import { nameConstraints } from './name-constraints.ts';

/** The authority (CA) that signs the certificates of the cluster listener, and these certificates. All keys are on P-256. */

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const authorityMs = 3_653 * dayMs;
const leafMs = 30 * dayMs;
// The clock of a client may be behind.
const skewMs = hourMs;

const curve = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const signature = { ...curve, hash: 'SHA-256' } as const;

/** A new CA, which can only sign certificates of servers with these DNS names. In PEM. */
export async function makeAuthority(
  names: readonly string[],
  now: number,
): Promise<{ readonly certificate: string; readonly key: Plaintext }> {
  const { publicKey, privateKey } = newKeys();
  // Two CAs with one name would be one to a client that trusts both.
  const name = new Name([{ CN: [`Keyframe cluster CA ${randomBytes(8).toString('hex')}`] }]);
  const certificate = await signed({
    subject: name,
    issuer: name,
    publicKey,
    signingKey: privateKey,
    notBefore: new Date(now - skewMs),
    notAfter: new Date(now + authorityMs),
    extensions: [
      // It signs no other CA.
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      nameConstraints(names),
      await SubjectKeyIdentifierExtension.create(verifyingKey(publicKey)),
    ],
  });
  return { certificate, key: new Plaintext(pemOf(privateKey)) };
}

/** A certificate and its key, which the CA has signed. */
export interface Leaf extends CertificatePair {
  readonly validFromMs: number;
  readonly expiresAtMs: number;
}

/** Signs a certificate for a server with these DNS names, with a new key. The CA must be without `authorityFault`. */
export async function signLeaf(authority: CertificatePair, names: readonly string[], now: number): Promise<Leaf> {
  const ca = new X509Certificate(authority.cert);
  const { publicKey, privateKey } = newKeys();
  // Certificates count whole seconds.
  const validFromMs = wholeSeconds(now - skewMs);
  const expiresAtMs = Math.min(wholeSeconds(now + leafMs), ca.notAfter.getTime());
  const keyId = ca.getExtension(SubjectKeyIdentifierExtension)?.keyId;
  const cert = await signed({
    subject: new Name([{ CN: ['Keyframe cluster listener'] }]),
    issuer: ca.subjectName,
    publicKey,
    signingKey: createPrivateKey(authority.key),
    notBefore: new Date(validFromMs),
    notAfter: new Date(expiresAtMs),
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns', value }))),
      ...(keyId === undefined ? [] : [new AuthorityKeyIdentifierExtension(keyId)]),
    ],
  });
  return { cert, key: pemOf(privateKey), validFromMs, expiresAtMs };
}

interface ToSign {
  readonly subject: Name;
  readonly issuer: Name;
  readonly publicKey: KeyObject;
  readonly signingKey: KeyObject;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly extensions: Extension[];
}

async function signed({ publicKey, signingKey, ...contents }: ToSign): Promise<string> {
  const certificate = await X509CertificateGenerator.create({
    ...contents,
    serialNumber: newSerial(),
    publicKey: verifyingKey(publicKey),
    signingKey: signingKey.toCryptoKey(curve, false, ['sign']),
    signingAlgorithm: signature,
  });
  return `${certificate.toString('pem')}\n`;
}

/** Positive, as RFC 5280 section 4.1.2.2 requires. */
function newSerial(): string {
  const serial = randomBytes(16);
  serial.writeUInt8(serial.readUInt8(0) % 0x80 || 1);
  return serial.toString('hex');
}

function newKeys(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function verifyingKey(key: KeyObject): ReturnType<KeyObject['toCryptoKey']> {
  return key.toCryptoKey(curve, true, ['verify']);
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function wholeSeconds(timeMs: number): number {
  return Math.floor(timeMs / 1000) * 1000;
}
