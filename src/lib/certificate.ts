import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The files with a certificate, followed by its chain, and with its private key, both in PEM. */
export interface CertificateFiles {
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** What the files hold. */
export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
}

/** A certificate that cannot be used. Its message says why, without what the files hold. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
}

/** Throws if a file cannot be read. */
export function readCertificate(
  { certificateFile, keyFile }: CertificateFiles,
  readTextFile = (path: string): string => readFileSync(path, 'utf8'),
): CertificatePair {
  return { cert: readTextFile(certificateFile), key: readTextFile(keyFile) };
}

/**
 * What prevents the use of the pair, without what it holds; undefined if nothing does. `keyVariable` names the file of the
 * key for people.
 */
export function certificateFault(
  { cert, key }: CertificatePair,
  keyVariable = 'KEYFRAME_TLS_KEY_FILE',
): string | undefined {
  const certificate = attempt(() => new X509Certificate(cert));
  if (certificate === undefined) return 'names a file without a valid certificate in PEM';
  const privateKey = attempt(() => createPrivateKey(key));
  if (privateKey === undefined)
    return 'has a key file without a valid private key in PEM, or with one that needs a password';
  return certificate.checkPrivateKey(privateKey)
    ? undefined
    : `names a certificate that is for another key than that of ${keyVariable}`;
}

/** What prevents that a pair signs certificates now, without what it holds; undefined if nothing does. */
export function authorityFault(pair: CertificatePair, keyVariable: string, now: number): string | undefined {
  const fault = certificateFault(pair, keyVariable);
  if (fault !== undefined) return fault;
  const { ca, publicKey, validFromDate, validToDate } = new X509Certificate(pair.cert);
  if (!ca) return 'names a certificate that is not of a CA';
  if (publicKey.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return 'names a CA whose key is not one on P-256';
  if (now >= validToDate.getTime()) {
    return `names a CA that expired at ${validToDate.toISOString()}: delete its Secret, let init create another one (helm upgrade), and restart the pods`;
  }
  return now < validFromDate.getTime()
    ? `names a CA that is valid from ${validFromDate.toISOString()} on: check the clock of this machine`
    : undefined;
}

/** When the certificate expires. The pair must be without a fault. */
export function expiryOf({ cert }: Pick<CertificatePair, 'cert'>): Date {
  return new X509Certificate(cert).validToDate;
}

/** Those of the names that the certificate is not for. The pair must be without a fault. */
export function missingNames({ cert }: Pick<CertificatePair, 'cert'>, names: readonly string[]): readonly string[] {
  const certificate = new X509Certificate(cert);
  // A client ignores the common name if there are other names, and clients of Node.js always do.
  return names.filter((name) => certificate.checkHost(name, { subject: 'never' }) === undefined);
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
