import { X509Certificate } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { makeAuthority } from '../../support/fixtures/certificate.ts';

test('certificates are signed by their authority, for the names and addresses asked for', () => {
  const authority = makeAuthority();
  const root = new X509Certificate(authority.certificate);
  const leaf = new X509Certificate(
    authority.issue({ names: ['one.test', 'two.test'], addresses: ['127.0.0.1'] }).certificate,
  );
  expect(root.ca).toBe(true);
  expect(leaf.ca).toBe(false);
  expect(leaf.verify(root.publicKey)).toBe(true);
  expect(leaf.verify(new X509Certificate(makeAuthority().certificate).publicKey)).toBe(false);
  expect(leaf.subjectAltName).toBe('DNS:one.test, DNS:two.test, IP Address:127.0.0.1');
  expect(leaf.validToDate.getTime()).toBeGreaterThan(Date.now());
  expect(leaf.validFromDate.getTime()).toBeLessThan(Date.now());
});
