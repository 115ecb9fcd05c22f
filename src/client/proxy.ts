/** A proxy of HTTP between the client and a server. */
export interface Proxy {
  /** The variable that names it. */
  readonly variable: string;
  /** Its address, http or https, which may hold a user and a password. */
  readonly url: URL;
}

/** The port of an http or https address, also if it names none. */
export function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

/** A proxy as messages name it: without its user and password. */
export function shownProxy({ variable, url }: Proxy): string {
  return `the proxy ${url.origin} of ${variable}`;
}
