/** An error whose message says what is wrong and what to do. It is shown without its stack. */
export class ReleaseError extends Error {
  override readonly name = 'ReleaseError';
}
