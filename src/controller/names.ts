import { createHash } from 'node:crypto';

/** The rules for names of Kubernetes resources, and short forms of long ones. */

const maxDnsNameLength = 253;
const dnsNameForm = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Whether a text may name a resource: a DNS subdomain (RFC 1123), as Kubernetes takes it. */
export function isDnsName(text: string): boolean {
  return text.length <= maxDnsNameLength && dnsNameForm.test(text);
}

export interface ShortForm {
  /** A name of up to this length stays as it is. */
  readonly maxLength: number;
  /** How much of a longer name stays at its beginning. */
  readonly headLength: number;
  /** Stands between the beginning and the digest. */
  readonly separator: string;
  /** In hexadecimal digits. */
  readonly digestLength: number;
}

/** A name, or its beginning and a digest of the whole if it is too long. The form is stored on objects: it never changes. */
export function shorten(name: string, { maxLength, headLength, separator, digestLength }: ShortForm): string {
  if (name.length <= maxLength) return name;
  return `${name.slice(0, headLength)}${separator}${digestOf(name).slice(0, digestLength)}`;
}

/** Tells texts apart in little room: the first 16 bytes of a text's SHA-256, in hexadecimal digits. */
export function shortDigest(text: string): string {
  return digestOf(text).slice(0, 32);
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const maxListLength = 200;

/** As many names as a message has room for: an Event holds 1024 characters. */
export function shortList(names: readonly string[]): string {
  let length = 0;
  const shown = names.filter((name) => {
    length += name.length + 2;
    return length <= maxListLength;
  });
  const rest = names.length - shown.length;
  if (shown.length === 0) return `their names are long`;
  return rest === 0 ? shown.join(', ') : `${shown.join(', ')} and ${rest} more`;
}
