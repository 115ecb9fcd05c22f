import { readFileSync } from 'node:fs';
import { lookRepeatedly } from '../lib/repeated-look.ts';
import { errorFields } from '../observability/logger.ts';
import { type HomeTokenDeps, keepHomeToken } from '../services/clusters/home-token.ts';

export interface HomeTokenFile extends HomeTokenDeps {
  readonly path: string;
  /** Default 10 s. */
  readonly intervalMs?: number;
}

/**
 * Keeps the home token that a file holds, and reads the file again and again. A file that cannot be used is reported once,
 * and the token before stays. Returns a function that ends it. Throws as `keepHomeToken` for the first one.
 */
export async function watchHomeToken(options: HomeTokenFile): Promise<() => void> {
  const { path, logger, intervalMs } = options;
  let current = readFileSync(path, 'utf8');
  await keepHomeToken(options, current);
  const { end } = lookRepeatedly({
    look: async () => {
      const text = readFileSync(path, 'utf8');
      if (text !== current) await keepHomeToken(options, text);
      current = text;
      return true;
    },
    onFault: (error) => {
      logger.warn(errorFields(error), 'the new home token cannot be used: the one before stays in use');
    },
    intervalMs,
  });
  return end;
}
