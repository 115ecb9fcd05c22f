import { expect, test } from '@jest/globals';
import { RootKeys } from '../../../src/crypto/root-keys.ts';
import { signLeaf } from '../../../src/crypto/authority.ts';
import { parseToken } from '../../../src/crypto/token.ts';
import { authorityFault } from '../../../src/lib/certificate.ts';
import { refusalOf } from '../../../src/lib/certificate-proof.ts';
import {
  adminSecret,
  clusterCaSecret,
  clusterTokenSecret,
  postgresRunSecret,
  postgresSecret,
  rootKeySecret,
} from '../../../src/roles/init/initial-secrets.ts';
import { nonEmpty } from '../../support/fixtures/non-empty.ts';

test('a root key is one that the server reads, under an id that no other one has', () => {
  const secret = rootKeySecret({ secret: 'keys', key: 'root.key' });
  const made = [1, 2].map(() => secret.generate()['root.key']?.reveal() ?? '');
  const ids = made.map((line) => RootKeys.parse(line).currentId);
  expect(new Set(ids).size).toBe(2);
  // Both in one Secret is what a recovered database asks for.
  expect(RootKeys.parse(made.join('\n')).ids).toEqual(ids);
});

test('the address of PostgreSQL holds its password, and is one that needs no escaping', () => {
  const { password, url } = postgresSecret({ secret: 'db', host: 'keyframe-postgres' }).generate();
  const address = new URL(url?.reveal() ?? '');
  expect(address.password).toBe(password?.reveal());
  expect(address.password).toMatch(/^[0-9a-f]{48}$/);
  expect(address.href).toBe(`postgresql://keyframe:${address.password}@keyframe-postgres:5432/keyframe`);
});

test('the servers’ address of PostgreSQL has another role and another password than the owner’s', () => {
  const { url } = postgresRunSecret({ secret: 'run', host: 'keyframe-postgres' }).generate();
  expect(url?.reveal()).toMatch(/^postgresql:\/\/keyframe_app:[0-9a-f]{48}@keyframe-postgres:5432\/keyframe$/);
});

test('the administrator’s token is a personal one', () => {
  const { token, email } = adminSecret({ secret: 'admin', email: 'a@example.com' }).generate();
  expect(parseToken(token?.reveal() ?? '')?.kind).toBe('personal_token');
  expect(email?.reveal()).toBe('a@example.com');
});

test('the home token is one of a cluster', () => {
  const { token } = clusterTokenSecret({ secret: 'cluster' }).generate();
  expect(parseToken(token?.reveal() ?? '')?.kind).toBe('cluster');
});

test('the CA is one that signs for its names, and controllers get its certificate only', async () => {
  const names = ['keyframe-cluster.keyframe.svc'];
  const made = await clusterCaSecret({ secret: 'ca', names }).generate();
  const { 'tls.crt': cert, 'tls.key': key, 'ca.crt': shown } = made;
  const pair = { cert: cert?.reveal() ?? '', key: key?.reveal() ?? '' };
  expect(authorityFault(pair, 'KEY', Date.now())).toBeUndefined();
  expect(shown?.reveal()).toBe(pair.cert);
  const leaf = await signLeaf(pair, names, Date.now());
  expect(await refusalOf(leaf, { authority: pair.cert, name: names[0] ?? '' })).toBeUndefined();
});

test('what is made prints as nothing', async () => {
  const all = [
    rootKeySecret({ secret: 'a', key: 'b' }),
    postgresSecret({ secret: 'a', host: 'b' }),
    postgresRunSecret({ secret: 'a', host: 'b' }),
    adminSecret({ secret: 'a', email: 'b@c' }),
    clusterTokenSecret({ secret: 'a' }),
    clusterCaSecret({ secret: 'a', names: ['b'] }),
  ];
  for (const secret of all) {
    for (const value of nonEmpty(Object.values(JSON.parse(JSON.stringify(await secret.generate())) as object)))
      expect(value).toBe('[redacted]');
  }
});
