/**
 * The rules for keys and values as the server applies them, for the command, which may not look into the domain: so a
 * faulty file is told before anything is sent, with the line it is on.
 */
export { validateSecretKey, validateSecretValue } from '../domain/names.ts';
export { charsetNames, defaultGeneration } from '../domain/generated-values.ts';
export { limits } from '../domain/limits.ts';
