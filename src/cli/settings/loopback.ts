/** Whether the host of an address is always this machine. Everything else may be another one, whatever it is called. */
export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
