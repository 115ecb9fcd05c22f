import { fileURLToPath } from 'node:url';

/** The folder that holds package.json, without a slash at its end. */
export const checkoutDirectory = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
