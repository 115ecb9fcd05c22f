import { createHash } from 'node:crypto';

interface CycloneDx {
  serialNumber?: string;
  metadata: { timestamp?: string; component: { name: string } };
}

/**
 * npm's CycloneDX document with the given time (seconds since 1970) and a serial number that follows from the
 * content, in place of the clock's and a random one: the same packages give the same bytes.
 */
export function stableSbom(text: string, time: number): string {
  const document = JSON.parse(text) as CycloneDx;
  delete document.serialNumber;
  document.metadata.timestamp = new Date(time * 1000).toISOString();
  // npm takes it from the folder's name.
  document.metadata.component.name = 'keyframe';
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(document))}`;
  return `${JSON.stringify({ ...document, serialNumber }, undefined, 2)}\n`;
}

/** A UUID of version 8 (RFC 9562), made of a hash. */
function uuidOf(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
