import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { audienceOf } from '../../../src/domain/audience.ts';
import { ClusterCalls } from '../../support/api/cluster-calls.ts';
import { RecoverSite } from '../../support/api/recover-site.ts';
import { RegistrationCalls } from '../../support/api/registration-calls.ts';
import { codeOf } from '../../support/api/sync-reader.ts';
import { claimName, newHomeToken } from '../../support/database/cluster-credentials.ts';
import { timesFor } from '../../support/oidc/jwt-signer.ts';

const program = { release: '1.2.3', protocol: { min: 1, max: 1 }, kinds: [] };
let site: RecoverSite;
let registrations: RegistrationCalls;

beforeEach(async () => {
  site = await RecoverSite.make();
  registrations = new RegistrationCalls(site.services);
});

afterEach(() => site.close());

async function stateOf(cluster: string): Promise<string> {
  return (await site.services.clusters.hello(cluster, { uid: 'one', isLeading: true, ...program })).state;
}

/** A token of the controller of a registered cluster. */
async function tokenOf(cluster: string): Promise<string> {
  const { rows } = await site.services.database.pool.query<{ id: string }>('SELECT id FROM instance');
  const aud = audienceOf(rows[0]?.id ?? '', { type: 'cluster', cluster });
  const { iss, subject: sub, signer } = registrations;
  return signer.sign({ iss, sub, aud, ...timesFor(3_600) });
}

test('a recovery disables remote clusters until an instance admin enables them, and leaves the home token', async () => {
  const { clusterAuthentication } = site.services;
  await registrations.set('remote');
  await stateOf('home');
  const home = await newHomeToken(site.services.database.pool);
  await claimName(site.services.database.pool, 'home');
  expect(await site.run()).toMatchObject({ clusters: 1, trustedIssuers: 0 });
  expect([await stateOf('remote'), await stateOf('home')]).toEqual(['disabled', 'enabled']);
  await expect(clusterAuthentication.authenticate(home, 'home')).resolves.toMatchObject({ isHome: true });
  // Its controller learns that it is disabled.
  await expect(clusterAuthentication.authenticate(await tokenOf('remote'), 'remote')).resolves.toBeDefined();
  await new ClusterCalls(site.services, site.world).enable('remote');
  expect(await stateOf('remote')).toBe('enabled');
});

test('enabling a remote cluster forgets the keys from a URL that the backup brought back', async () => {
  const { pool } = site.services.database;
  await registrations.set('remote', { jwksUrl: 'https://issuer.example/keys' });
  const keys = JSON.stringify({ keys: [registrations.signer.jwk] });
  await pool.query(`UPDATE trusted_issuer SET keys = $1, fetched_at = clock_timestamp()`, [keys]);
  await site.run();
  await new ClusterCalls(site.services, site.world).enable('remote');
  const { rows } = await pool.query('SELECT keys, fetched_at, disabled_at FROM trusted_issuer');
  expect(rows).toEqual([{ keys: null, fetched_at: null, disabled_at: null }]);
});

test('a recovery leaves the clusters that were registered since its moment', async () => {
  await registrations.set('old');
  const before = await site.databaseTime();
  await registrations.set('fresh');
  expect(await site.run({ before })).toMatchObject({ clusters: 1 });
  expect([await stateOf('old'), await stateOf('fresh')]).toEqual(['disabled', 'enabled']);
});

test('a copy with another instance accepts no token of the original', async () => {
  await registrations.set('remote');
  const token = await tokenOf('remote');
  await site.run({ newInstance: true });
  const refused = site.services.clusterAuthentication.authenticate(token, 'remote');
  expect(await refused.catch(codeOf)).toBe('unauthenticated');
  await expect(
    site.services.clusterAuthentication.authenticate(await tokenOf('remote'), 'remote'),
  ).resolves.toBeDefined();
});
