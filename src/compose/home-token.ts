import { readFileSync } from 'node:fs';
import { errorFields } from '../observability/logger.ts';
import { type HomeTokenDeps, keepHomeToken } from '../services/clusters/home-token.ts';

export interface HomeTokenFile extends HomeTokenDeps {
  readonly path: string;
  /** Default 10 s. */
  readonly intervalMs?: number;
}

const defaultIntervalMs = 10_000;

/**
 * Keeps the home token that a file holds, and reads the file again and again, as `watchCertificate`. A file that cannot be
 * used is reported once, and the token before stays. Returns a function that ends it. Throws as `keepHomeToken` for the
 * first one.
 */
export async function watchHomeToken(options: HomeTokenFile): Promise<() => void> {
  const { path, logger, intervalMs = defaultIntervalMs } = options;
  let current = readFileSync(path, 'utf8');
  await keepHomeToken(options, current);
  let reported = '';
  let isLooking = false;
  const look = async (): Promise<void> => {
    try {
      const text = readFileSync(path, 'utf8');
      if (text !== current) await keepHomeToken(options, text);
      current = text;
      reported = '';
    } catch (error) {
      const { message } = error as Error;
      if (message !== reported) {
        logger.warn(errorFields(error), 'the new home token cannot be used: the one before stays in use');
      }
      reported = message;
    }
  };
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void look().finally(() => (isLooking = false));
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
