import {
  CertificateError,
  type CertificateFiles,
  type CertificatePair,
  certificateFault,
  expiryOf,
  readCertificate,
} from '../lib/certificate.ts';
import { lookRepeatedly, type RepeatedLook } from '../lib/repeated-look.ts';
import { errorFields, type Logger } from '../observability/logger.ts';

export interface CertificateWatchOptions {
  /**
   * Returns another pair to use from now on, or undefined while the one in use stays. Throws CertificateError, and errors
   * of the file system.
   */
  readonly look: () => Promise<CertificatePair | undefined> | CertificatePair | undefined;
  /** Uses a new pair. */
  readonly renew: (pair: CertificatePair) => void;
  readonly logger: Logger;
  /** Who uses the pair, for the log. */
  readonly user: string;
  /** Default 10 s. */
  readonly intervalMs?: number;
}

/** Looks again and again for another pair, and uses it. A fault is reported once, and the pair in use stays. */
export function watchCertificate({ look, renew, logger, user, intervalMs }: CertificateWatchOptions): RepeatedLook {
  return lookRepeatedly({
    look: async () => {
      const pair = await look();
      if (pair === undefined) return false;
      renew(pair);
      logger.info({ expiresAt: expiryOf(pair).toISOString() }, `${user} uses the renewed certificate`);
      return true;
    },
    onFault: (error) => {
      const detail = error instanceof CertificateError ? { detail: error.message } : {};
      const fields = { ...errorFields(error), ...detail };
      logger.warn(fields, `the new certificate of ${user} cannot be used: the former one stays in use`);
    },
    intervalMs,
  });
}

/** Looks for another pair in the files of the present one. One of the two files may be newer for a moment. */
export function lookIntoFiles(
  files: CertificateFiles,
  present: CertificatePair,
  keyVariable?: string,
): () => CertificatePair | undefined {
  let current = present;
  return () => {
    const pair = readCertificate(files);
    if (pair.cert === current.cert && pair.key === current.key) return undefined;
    const fault = certificateFault(pair, keyVariable);
    if (fault !== undefined) throw new CertificateError(fault);
    current = pair;
    return pair;
  };
}
