const secretPrefix = /kf_(?:svc|pat|ses|lnk)_/;

/** Whether a text has the secret of a token, a session or a sign-in link. Such a text is in no address and no filter. */
export function hasTokenText(text: string): boolean {
  return secretPrefix.test(text);
}
