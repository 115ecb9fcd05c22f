/** What the command says of itself when it opens the page. */
export interface LoginRequest {
  /** Of 127.0.0.1, where it waits. */
  readonly port: number;
  readonly challenge: string;
  readonly state: string;
}

/** Reads the parameters of the page; undefined if one of them cannot be right. */
export function loginRequestOf(parameters: { get(name: string): string | null }): LoginRequest | undefined {
  const port = parameters.get('port') ?? '';
  const challenge = parameters.get('challenge') ?? '';
  const state = parameters.get('state') ?? '';
  const isPort = /^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535;
  if (!isPort || !/^[\w-]{43}$/.test(challenge) || !/^[\w-]{16,128}$/.test(state)) return undefined;
  return { port: Number(port), challenge, state };
}

/** Where the browser passes the code on to the command: always this machine. */
export function callbackOf({ port, state }: LoginRequest, code: string): string {
  return `http://127.0.0.1:${port}/callback?code=${encodeURIComponent(code)}&state=${encodeURIComponent(state)}`;
}
