/** An error whose message says what is wrong and what to do. It is shown without its stack. */
export class ImageError extends Error {
  override readonly name = 'ImageError';
}
