const secretPrefix = /kf_(?:svc|pat|ses|lnk|cls)_/;

/** Whether a text has the secret of a token, a session, a sign-in link or a cluster. Such a text is in no address and no filter. */
export function hasTokenText(text: string): boolean {
  return secretPrefix.test(text);
}
