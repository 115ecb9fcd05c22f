/** A fault whose message tells the person at the terminal what is wrong and what to do; to be shown without its stack. */
export class ImageError extends Error {
  override readonly name = 'ImageError';
}
