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

/** Throws if a file cannot be read. */
export function readCertificate(
  { certificateFile, keyFile }: CertificateFiles,
  readTextFile = (path: string): string => readFileSync(path, 'utf8'),
): CertificatePair {
  return { cert: readTextFile(certificateFile), key: readTextFile(keyFile) };
}

/** What prevents the use of the pair, without what it holds; undefined if nothing does. */
export function certificateFault({ cert, key }: CertificatePair): string | undefined {
  const certificate = attempt(() => new X509Certificate(cert));
  if (certificate === undefined) return 'names a file without a valid certificate in PEM';
  const privateKey = attempt(() => createPrivateKey(key));
  if (privateKey === undefined)
    return 'has a key file without a valid private key in PEM, or with one that needs a password';
  return certificate.checkPrivateKey(privateKey)
    ? undefined
    : 'names a certificate that is for another key than that of KEYFRAME_TLS_KEY_FILE';
}

/** When the certificate expires. The pair must be without a fault. */
export function expiryOf({ cert }: CertificatePair): Date {
  return new Date(new X509Certificate(cert).validTo);
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
