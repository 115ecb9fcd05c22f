/**
 * The rules of the server for keys and values, for the command, which must not import the domain. With them, the command
 * reports an invalid file with its line before it sends anything.
 */
export { validateSecretKey, validateSecretKeyPrefix, validateSecretValue } from '../domain/names.ts';
export { charsetNames, defaultGeneration } from '../domain/generated-values.ts';
export { globTest, validateKeyGlob } from '../domain/key-globs.ts';
export { limits } from '../domain/limits.ts';
