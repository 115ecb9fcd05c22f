/** Where the token of a client comes from. A client may outlive its token: a JWT is valid for minutes. */
export interface TokenSource {
  /** The token for a request that begins now. */
  current(): string | Promise<string>;
  /** Another token after the server refused one; undefined if there is no other. */
  after(refused: string): string | undefined | Promise<string | undefined>;
}

/** A token that stays as it is. */
export function fixedToken(token: string): TokenSource {
  return { current: () => token, after: () => undefined };
}
