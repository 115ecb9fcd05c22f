import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { clusterMethods } from '../../../src/wire/cluster/methods.ts';
import { HttpClient, startTestApi, type TestApi } from '../../support/api/http.ts';
import { newHomeToken, registerCluster, type RemoteCluster } from '../../support/database/cluster-credentials.ts';
import { tableDigests } from '../../support/database/table-digest.ts';

/** The token of one cluster's controller, presented for others. What a stolen cluster can do with ids: foreign-ids.test.ts. */

let api: TestApi;
let stolen: RemoteCluster;
let victim: RemoteCluster;
let homeToken: string;

beforeAll(async () => {
  api = await startTestApi();
  const { pool } = api.services.database;
  stolen = await registerCluster(pool, 'stolen');
  victim = await registerCluster(pool, 'victim');
  homeToken = await newHomeToken(pool);
  const hello = { uid: 'one', isLeading: true, release: '1.0.0', protocol: { min: 1, max: 1 }, kinds: [] };
  await api.services.clusters.hello('home', hello);
});

afterAll(() => api.close());

// Each method, and the stream of events.
const paths = [...Object.keys(clusterMethods), 'events'];

async function statusesOf(path: string, token: string, names: readonly (string | undefined)[]): Promise<number[]> {
  const client = new HttpClient(`http://127.0.0.1:${api.port}`, token);
  const sent = names.map(async (name) => {
    const headers = { 'keyframe-process': randomUUID(), ...(name === undefined ? {} : { 'keyframe-cluster': name }) };
    const method = path === 'events' ? 'GET' : 'POST';
    return (await client.send(method, `/cluster/${path}`, method === 'GET' ? undefined : {}, headers)).status;
  });
  return await Promise.all(sent);
}

test.each(paths)('%s takes no name but that of the token', async (path) => {
  const before = await tableDigests(api.services.database);
  const others = [
    'victim',
    'home',
    'unheard-of',
    'Stolen',
    'stolen.',
    'stolen/team-a/own',
    'stolen, victim',
    '',
    undefined,
  ];
  const names = [...new Set(others)];
  const refused = names.map(() => 401);
  expect(await statusesOf(path, stolen.token(), names)).toEqual(refused);
  // A token that the thief's own API server signs for others.
  const forged = stolen.token({ aud: [victim.audience] });
  expect(await statusesOf(path, forged, [...names, 'stolen'])).toEqual([...refused, 401]);
  expect(await statusesOf(path, homeToken, ['stolen', 'victim', '', undefined])).toEqual([401, 401, 401, 401]);
  expect(await tableDigests(api.services.database)).toEqual(before);
});
