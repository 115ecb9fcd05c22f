import { X509Certificate } from 'node:crypto';
import type { CertificateFiles } from '../lib/certificate.ts';

/** Whether a text has certificates in PEM, each of them valid. */
export function holdsCertificates(text: string): boolean {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.length > 0 && blocks.every(isCertificate);
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

/** The files of two variables; undefined unless both are set. */
export function certificateFilesOf(
  certificateFile: string | undefined,
  keyFile: string | undefined,
): CertificateFiles | undefined {
  return certificateFile === undefined || keyFile === undefined ? undefined : { certificateFile, keyFile };
}
