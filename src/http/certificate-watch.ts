import {
  type CertificateFiles,
  type CertificatePair,
  certificateFault,
  expiryOf,
  readCertificate,
} from '../lib/certificate.ts';
import { errorFields, type Logger } from '../observability/logger.ts';

export interface CertificateWatchOptions {
  readonly files: CertificateFiles;
  /** The pair in use. */
  readonly current: CertificatePair;
  readonly logger: Logger;
  /** Uses a new pair. */
  readonly renew: (pair: CertificatePair) => void;
  /** Default 10 s. */
  readonly intervalMs?: number;
}

const defaultIntervalMs = 10_000;

/**
 * Reads the files again and again, because watches of files miss the exchange of a mounted Secret. An invalid pair is
 * reported once, and the former one stays in use. Returns a function that ends it.
 */
export function watchCertificate(options: CertificateWatchOptions): () => void {
  const { files, logger, renew, intervalMs = defaultIntervalMs } = options;
  let { current } = options;
  let reported = '';
  const look = (): void => {
    try {
      const pair = readCertificate(files);
      if (pair.cert === current.cert && pair.key === current.key) return;
      const fault = certificateFault(pair);
      if (fault !== undefined) throw new Error(fault);
      renew(pair);
      current = pair;
      reported = '';
      logger.info({ expiresAt: expiryOf(pair).toISOString() }, 'the API uses the renewed certificate');
    } catch (error) {
      const { message } = error as Error;
      // One of the two files may be newer for a moment.
      if (message !== reported)
        logger.warn(errorFields(error), 'the new certificate cannot be used: the former one stays in use');
      reported = message;
    }
  };
  const timer = setInterval(look, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
