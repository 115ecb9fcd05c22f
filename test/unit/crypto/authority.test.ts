import { createPrivateKey, X509Certificate } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { makeAuthority, signLeaf } from '../../../src/crypto/authority.ts';
import { authorityFault, certificateFault, type CertificatePair } from '../../../src/lib/certificate.ts';
import { refusalOf } from '../../../src/lib/certificate-proof.ts';

const name = 'keyframe-cluster.keyframe.svc';
const dayMs = 24 * 3_600_000;

async function newAuthority(names: readonly string[] = [name], now = Date.now()): Promise<CertificatePair> {
  const { certificate, key } = await makeAuthority(names, now);
  return { cert: certificate, key: key.reveal() };
}

test('a CA is valid for 10 years, from an hour ago on', async () => {
  const now = Date.UTC(2026, 1, 3);
  const { validFromDate, validToDate, ca } = new X509Certificate((await newAuthority([name], now)).cert);
  expect([ca, validFromDate.toISOString()]).toEqual([true, '2026-02-02T23:00:00.000Z']);
  expect(validToDate.toISOString()).toBe('2036-02-04T00:00:00.000Z');
});

test('a certificate is valid for 30 days, from an hour ago on', async () => {
  const now = Date.UTC(2026, 1, 3, 0, 0, 0, 250);
  const leaf = await signLeaf(await newAuthority([name], now), [name], now);
  const { validFromDate, validToDate, ca, subjectAltName, keyUsage } = new X509Certificate(leaf.cert);
  expect([validFromDate.getTime(), validToDate.getTime()]).toEqual([leaf.validFromMs, leaf.expiresAtMs]);
  expect(validFromDate.toISOString()).toBe('2026-02-02T23:00:00.000Z');
  expect(validToDate.toISOString()).toBe('2026-03-05T00:00:00.000Z');
  expect([ca, subjectAltName, keyUsage]).toEqual([false, `DNS:${name}`, ['1.3.6.1.5.5.7.3.1']]);
  expect(certificateFault(leaf)).toBeUndefined();
});

test('a certificate does not live longer than its CA', async () => {
  const now = Date.now();
  const authority = await newAuthority([name], now - 3_650 * dayMs);
  const leaf = await signLeaf(authority, [name], now);
  expect(leaf.expiresAtMs).toBe(new X509Certificate(authority.cert).validToDate.getTime());
  expect(await refusalOf(leaf, { authority: authority.cert, name })).toBeUndefined();
});

test('certificates have different serial numbers, which are positive, and different keys', async () => {
  const authority = await newAuthority();
  const leaves = await Promise.all(Array.from({ length: 20 }, () => signLeaf(authority, [name], Date.now())));
  const serials = leaves.map(({ cert }) => new X509Certificate(cert).serialNumber);
  expect(new Set(serials).size).toBe(20);
  for (const serial of serials) expect(serial).toMatch(/^[0-7][0-9A-F]{31}$|^0?[1-9A-F][0-9A-F]{0,30}$/);
  expect(new Set(leaves.map(({ key }) => key)).size).toBe(20);
});

test('a client that trusts the CA accepts each of the names', async () => {
  const names = [name, 'localhost'];
  const authority = await newAuthority(names);
  const leaf = await signLeaf(authority, names, Date.now());
  for (const each of names) expect(await refusalOf(leaf, { authority: authority.cert, name: each })).toBeUndefined();
});

test('a client refuses another name, and a certificate of another CA with the same names', async () => {
  const [authority, other] = [await newAuthority(), await newAuthority()];
  const leaf = await signLeaf(authority, [name], Date.now());
  expect(await refusalOf(leaf, { authority: authority.cert, name: 'keyframe' })).toContain('does not match');
  expect(await refusalOf(leaf, { authority: other.cert, name })).toContain('unable to verify the first certificate');
});

test('a client refuses what the CA signs for a name that the CA was not made for', async () => {
  const authority = await newAuthority();
  const leaf = await signLeaf(authority, [name, 'example.com'], Date.now());
  expect(await refusalOf(leaf, { authority: authority.cert, name })).toBe('permitted subtree violation');
});

test('a key other than one on P-256, and a certificate that is no CA, are faults', async () => {
  const now = Date.now();
  const authority = await newAuthority();
  const fault = (pair: CertificatePair, at = now): string | undefined => authorityFault(pair, 'THE_KEY', at);
  expect(fault(authority)).toBeUndefined();
  expect(fault(await signLeaf(authority, [name], now))).toBe('names a certificate that is not of a CA');
  expect(fault({ ...authority, key: (await newAuthority()).key })).toContain('another key than that of THE_KEY');
  expect(fault(authority, now + 3_653 * dayMs)).toMatch(/^names a CA that expired at .*: delete its Secret/);
  expect(fault(authority, now - dayMs)).toMatch(/^names a CA that is valid from .*: check the clock/);
  expect(createPrivateKey(authority.key).asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
});
