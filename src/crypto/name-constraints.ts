import { Extension } from '@peculiar/x509';

/**
 * The extension that limits what a CA can sign (RFC 5280 section 4.2.1.10): certificates for these DNS names and names
 * below them, and for no IP address.
 */
export function nameConstraints(names: readonly string[]): Extension {
  const permitted = names.map((name) => subtree(tags.dnsName, Buffer.from(name)));
  // An address and its mask, both of zeros, are all addresses.
  const excluded = [4, 16].map((bytes) => subtree(tags.ipAddress, Buffer.alloc(2 * bytes)));
  const content = der(tags.sequence, der(tags.permitted, ...permitted), der(tags.excluded, ...excluded));
  return new Extension('2.5.29.30', true, content);
}

const tags = { sequence: 0x30, permitted: 0xa0, excluded: 0xa1, dnsName: 0x82, ipAddress: 0x87 } as const;

function subtree(tag: number, name: Buffer): Buffer {
  return der(tags.sequence, der(tag, name));
}

/** At most 65,535 bytes. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer<ArrayBuffer> {
  const content = Buffer.concat(parts);
  if (content.length < 0x80) return Buffer.concat([Buffer.from([tag, content.length]), content]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(content.length);
  return Buffer.concat([Buffer.from([tag, 0x82]), length, content]);
}
