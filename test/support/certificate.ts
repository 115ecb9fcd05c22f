import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/**
 * X.509 certificates for servers of tests, made without a tool: Node signs but encodes no certificates, so the few
 * DER structures (RFC 5280 section 4.1) are written here.
 */

/** A certificate and its private key, both PEM. */
export interface Certificate {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateAuthority extends Certificate {
  /** Signs a certificate for a server at these names and IPv4 addresses, valid for a day. */
  issue(subject: { readonly names: readonly string[]; readonly addresses: readonly string[] }): Certificate;
}

interface Contents {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly signingKey: KeyObject;
  readonly extension: Buffer;
}

const dayMs = 24 * 60 * 60 * 1000;
const oids = {
  ecdsaWithSha256: '2a8648ce3d040302',
  commonName: '550403',
  basicConstraints: '551d13',
  subjectAltName: '551d11',
};

/** A new authority with a name of its own, valid for a day. */
export function makeAuthority(): CertificateAuthority {
  const name = `keyframe test ${randomBytes(8).toString('hex')}`;
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const isAuthority = extension(oids.basicConstraints, sequence(der(0x01, Buffer.from([0xff]))));
  const contents = { subject: name, issuer: name, publicKey, signingKey: privateKey, extension: isAuthority };
  return {
    certificate: encode(contents),
    key: pem(privateKey),
    issue: ({ names, addresses }) => {
      const leaf = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const alternatives = extension(oids.subjectAltName, sequence(...names.map(dnsName), ...addresses.map(ipAddress)));
      const signed = { subject: names[0] ?? 'server', publicKey: leaf.publicKey, extension: alternatives };
      return {
        certificate: encode({ ...signed, issuer: name, signingKey: privateKey }),
        key: pem(leaf.privateKey),
      };
    },
  };
}

function encode({ subject, issuer, publicKey, signingKey, extension: extra }: Contents): string {
  const algorithm = sequence(oid(oids.ecdsaWithSha256));
  // A serial number is positive: its first byte stays below 0x80.
  const serial = Buffer.concat([Buffer.from([0x01]), randomBytes(15)]);
  const toSign = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    algorithm,
    distinguishedName(issuer),
    sequence(time(Date.now() - dayMs / 24), time(Date.now() + dayMs)),
    distinguishedName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(extra)),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', toSign, signingKey));
  const lines =
    sequence(toSign, algorithm, signature)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

function distinguishedName(text: string): Buffer {
  const attribute = sequence(oid(oids.commonName), der(0x0c, Buffer.from(text)));
  return sequence(der(0x31, attribute));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), der(0x04, value));
}

function dnsName(text: string): Buffer {
  return der(0x82, Buffer.from(text));
}

function ipAddress(text: string): Buffer {
  return der(0x87, Buffer.from(text.split('.').map(Number)));
}

function time(atMs: number): Buffer {
  const digits = new Date(atMs).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return der(0x17, Buffer.from(digits.slice(2)));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  if (content.length < 0x80) return Buffer.concat([Buffer.from([tag, content.length]), content]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(content.length);
  return Buffer.concat([Buffer.from([tag, 0x82]), length, content]);
}

function pem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
