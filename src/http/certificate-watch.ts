import {
  CertificateError,
  type CertificateFiles,
  type CertificatePair,
  certificateFault,
  expiryOf,
  readCertificate,
} from '../lib/certificate.ts';
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

/** A watch for another certificate. */
export interface CertificateWatch {
  /** Looks now. */
  readonly look: () => Promise<void>;
  readonly end: () => void;
}

const defaultIntervalMs = 10_000;

/**
 * Looks again and again for another pair, because watches of files miss the exchange of a mounted Secret, and timers miss
 * the time that a machine slept. A fault is reported once, and the pair in use stays.
 */
export function watchCertificate(options: CertificateWatchOptions): CertificateWatch {
  const { logger, renew, user, intervalMs = defaultIntervalMs } = options;
  let reported = '';
  let looking: Promise<void> | undefined;
  const lookOnce = async (): Promise<void> => {
    try {
      const pair = await options.look();
      if (pair === undefined) return;
      renew(pair);
      reported = '';
      logger.info({ expiresAt: expiryOf(pair).toISOString() }, `${user} uses the renewed certificate`);
    } catch (error) {
      const { message } = error as Error;
      const detail = error instanceof CertificateError ? { detail: message } : {};
      if (message !== reported) {
        const fields = { ...errorFields(error), ...detail };
        logger.warn(fields, `the new certificate of ${user} cannot be used: the former one stays in use`);
      }
      reported = message;
    }
  };
  const look = (): Promise<void> => (looking ??= lookOnce().finally(() => (looking = undefined)));
  const timer = setInterval(() => void look(), intervalMs);
  timer.unref();
  return { look, end: () => clearInterval(timer) };
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
