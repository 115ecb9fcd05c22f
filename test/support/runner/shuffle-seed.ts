const variable = 'KEYFRAME_TEST_SHUFFLE';
const text = process.env[variable] ?? '';

/** The seed of a random order of files and tests; undefined for the usual order. */
export const shuffleSeed = text === '' ? undefined : parseSeed();

function parseSeed(): number {
  const seed = Number(text);
  // Jest's own limits.
  if (Number.isInteger(seed) && seed >= 0 && seed < 2 ** 31) return seed;
  throw new Error(`${variable} must be a whole number from 0 to 2147483647, not ${JSON.stringify(text)}`);
}
