import { join } from 'node:path';
import { checkoutDirectory } from '../../../tools/checkout.ts';

/**
 * Variables by which a Keyframe program keeps what V8 has compiled, and TypeScript without its types, for the next process:
 * it takes less CPU time to start. A process that ends in order writes the cache.
 */
export const compileCacheEnv: Readonly<Record<string, string>> = {
  NODE_COMPILE_CACHE: join(checkoutDirectory, 'node_modules', '.cache', 'compiled'),
};
