import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { ClusterIssuer, NameHolder } from '../../../src/domain/clusters.ts';
import { keepReported } from '../../../src/store/cluster-issuers.ts';
import { dropReports, listServedClusters } from '../../../src/store/served-clusters.ts';
import { inTransaction } from '../../../src/store/transaction.ts';
import { withServices } from '../../support/api/with-services.ts';
import type { TestServices } from '../../support/api/services.ts';

const program = { release: '1.2.3', protocol: { min: 1, max: 1 }, kinds: ['SecretSync'] };
let services: TestServices;

withServices((given) => ({ services } = given));

/** Says hello as a controller that leads. Returns who has the name. */
async function claim(name: string, uid: string): Promise<NameHolder | 'ours'> {
  return (await services.clusters.hello(name, { uid, isLeading: true, ...program })).holder ?? 'ours';
}

async function age(name: string, interval: string): Promise<void> {
  const text = 'UPDATE cluster SET seen_at = clock_timestamp() - $2::interval WHERE name = $1';
  await services.database.pool.query(text, [name, interval]);
}

test('a cluster has its name as long as it is seen, and any number of names is free', async () => {
  expect(await claim('prod', 'one')).toBe('ours');
  expect(await claim('staging', 'two')).toBe('ours');
  await age('prod', '9 minutes');
  const refused = await claim('prod', 'two');
  expect(refused).toEqual({ heldBy: 'one', seenAt: expect.any(Date) });
  // A refusal does not renew the name of the other cluster.
  await age('prod', '10 minutes 1 second');
  expect(await claim('prod', 'two')).toBe('ours');
  expect(await claim('prod', 'one')).toMatchObject({ heldBy: 'two' });
});

test('each claim of its own cluster renews a name', async () => {
  await claim('own', 'one');
  await age('own', '20 minutes');
  expect(await claim('own', 'one')).toBe('ours');
  expect(await claim('own', 'two')).toMatchObject({ heldBy: 'one' });
});

test('of many clusters that claim a name at the same time one gets it', async () => {
  const uids = Array.from({ length: 20 }, (_, index) => `uid-${index}`);
  const answers = await Promise.all(uids.map((uid) => claim('contended', uid)));
  const winners = uids.filter((_uid, index) => answers[index] === 'ours');
  expect(winners).toHaveLength(1);
  const [winner] = winners;
  const holders = answers.flatMap((answer) => (answer === 'ours' ? [] : [answer.heldBy]));
  expect(new Set(holders)).toEqual(new Set([winner]));
});

describe('a standby controller', () => {
  const ask = async (name: string, uid: string): Promise<NameHolder | undefined> =>
    (await services.clusters.hello(name, { uid, isLeading: false, ...program })).holder;

  test('takes no name, and renews none', async () => {
    expect(await ask('standby', 'one')).toBeUndefined();
    expect(await claim('standby', 'two')).toBe('ours');
    await age('standby', '9 minutes');
    expect(await ask('standby', 'two')).toBeUndefined();
    await age('standby', '11 minutes');
    expect(await claim('standby', 'one')).toBe('ours');
  });

  test('learns who has its name', async () => {
    await claim('held', 'one');
    expect(await ask('held', 'two')).toEqual({ heldBy: 'one', seenAt: expect.any(Date) });
  });
});

test.each([true, false])('an answer has the time of the database (leading: %s)', async (isLeading) => {
  const before = Date.now();
  const { now } = await services.clusters.hello('timed', { uid: 'one', isLeading, ...program });
  expect(now.getTime()).toBeGreaterThanOrEqual(before - 1000);
  expect(now.getTime()).toBeLessThanOrEqual(Date.now() + 1000);
});

test.each([true, false])('an answer has the state of the cluster (leading: %s)', async (isLeading) => {
  const name = `stated-${isLeading}`;
  const stateOf = async (): Promise<string> =>
    (await services.clusters.hello(name, { uid: 'one', isLeading, ...program })).state;
  expect(await stateOf()).toBe('enabled');
  const { pool } = services.database;
  await pool.query(
    'INSERT INTO served_cluster (name, disabled_at) VALUES ($1, now()) ON CONFLICT (name) DO UPDATE SET disabled_at = now()',
    [name],
  );
  expect(await stateOf()).toBe('disabled');
  await pool.query('UPDATE served_cluster SET forgotten_at = now() WHERE name = $1', [name]);
  expect(await stateOf()).toBe('forgotten');
});

describe('what a leader says of itself', () => {
  const controllerOf = async (name: string): Promise<unknown> =>
    (await listServedClusters(services.database.pool)).find((cluster) => cluster.name === name)?.controller;

  test('is kept with each hello, and a standby changes nothing of it', async () => {
    await claim('said', 'one');
    expect(await controllerOf('said')).toEqual(program);
    const next = { release: '1.3.0', protocol: { min: 1, max: 2 }, kinds: ['SecretSync', 'ServiceToken'] };
    await services.clusters.hello('said', { uid: 'one', isLeading: false, ...next });
    expect(await controllerOf('said')).toEqual(program);
    await services.clusters.hello('said', { uid: 'one', isLeading: true, ...next });
    expect(await controllerOf('said')).toEqual(next);
  });

  test('does not count after a server of release 0.9 has renewed the name', async () => {
    await claim('older', 'one');
    // The statement of that release.
    const claimOfOlder = `INSERT INTO cluster (name, uid, seen_at) VALUES ($1, $2, clock_timestamp() + interval '1 second')
      ON CONFLICT (name) DO UPDATE SET uid = excluded.uid, seen_at = excluded.seen_at`;
    await services.database.pool.query(claimOfOlder, ['older', 'one']);
    expect(await controllerOf('older')).toBeNull();
    await services.database.pool.query(claimOfOlder, ['only-older', 'one']);
    expect(await controllerOf('only-older')).toBeNull();
    await claim('older', 'one');
    expect(await controllerOf('older')).toEqual(program);
  });

  test('is kept for no cluster whose name another one has', async () => {
    await claim('theirs', 'one');
    await services.clusters.hello('theirs', { uid: 'two', isLeading: true, ...program, release: '9.9.9' });
    expect(await controllerOf('theirs')).toEqual(program);
  });
});

test.each([true, false])('a protocol that the server does not know is refused (leading: %s)', async (isLeading) => {
  const name = `newer-${isLeading}`;
  const newer = { ...program, protocol: { min: 1000, max: 1001 } };
  const refused = services.clusters.hello(name, { uid: 'one', isLeading, ...newer });
  await expect(refused).rejects.toMatchObject({ code: 'protocol_unsupported' });
  expect(await claim(name, 'two')).toBe('ours');
});

test('a hello that no controller says is refused', async () => {
  const refused = services.clusters.hello('odd', { uid: 'one', isLeading: true, ...program, release: '1.0\u001B[2J' });
  await expect(refused).rejects.toMatchObject({ code: 'invalid_input' });
});

describe('the issuer that a leader reports', () => {
  const jwkOf = (kid: string, type: 'rsa' | 'ec' | 'ed25519'): Record<string, string> => {
    const { publicKey } =
      type === 'rsa'
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : type === 'ec'
          ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
          : generateKeyPairSync('ed25519');
    return { ...(publicKey.export({ format: 'jwk' }) as Record<string, string>), kid, use: 'sig' };
  };
  const iss = 'https://kubernetes.default.svc';
  const one = jwkOf('one', 'rsa');
  const two = jwkOf('two', 'ec');
  const report = async (name: string, uid: string, issuer: ClusterIssuer | undefined): Promise<void> => {
    await services.clusters.hello(name, { uid, isLeading: true, ...program, issuer });
  };
  const rowOf = async (name: string): Promise<Record<string, unknown> | undefined> => {
    const { rows } = await services.database.pool.query<Record<string, unknown>>(
      `SELECT *, xmin::text, xmax::text FROM trusted_issuer WHERE cluster = $1`,
      [name],
    );
    return rows[0];
  };

  test('is kept with its usable keys, and shown to instance admins', async () => {
    const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });
    const curve = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' });
    const keys = [two, one, jwkOf('three', 'ed25519'), { ...weak, kid: 'weak' }, { ...curve, kid: 'curve' }];
    await report('kept', 'one', { iss, keys });
    const row = await rowOf('kept');
    const facts = { name: null, preset: 'kubernetes', iss, jwks_url: null, max_age_seconds: 86_400, generation: 1 };
    expect(row).toMatchObject({ ...facts, keys_version: 1, version: 1 });
    const kept = row?.['keys'] as { keys: { kid: string }[] } | undefined;
    expect(kept?.keys.map(({ kid }) => kid)).toEqual(['one', 'three', 'two']);
    const algorithms = row?.['algorithms'] as string[] | undefined;
    expect(algorithms?.toSorted()).toEqual(['ES256', 'EdDSA', 'RS256']);
    const shown = (await listServedClusters(services.database.pool)).find(({ name }) => name === 'kept');
    expect(shown?.issuer).toEqual({ iss, keyCount: 3 });
  });

  test('is written only if it changed, and people alone raise its generation', async () => {
    await report('same', 'one', { iss, keys: [one, two] });
    const before = await rowOf('same');
    await report('same', 'one', { iss, keys: [two, one] });
    await report('same', 'one', undefined);
    expect(await rowOf('same')).toEqual(before);
    await report('same', 'one', { iss, keys: [one] });
    expect(await rowOf('same')).toMatchObject({ id: before?.['id'], keys_version: 2, generation: 1, version: 1 });
    await report('same', 'one', { iss: 'https://other', keys: [one] });
    expect(await rowOf('same')).toMatchObject({ iss: 'https://other', keys_version: 3, generation: 1 });
  });

  test('is not taken from a cluster that has another name holder', async () => {
    await report('held-issuer', 'one', { iss, keys: [one] });
    const before = await rowOf('held-issuer');
    await report('held-issuer', 'two', { iss, keys: [two] });
    expect(await rowOf('held-issuer')).toEqual(before);
  });

  test('is not written for a cluster that lost its name a moment before', async () => {
    await claim('lost', 'two');
    const late = { cluster: 'lost', uid: 'one', iss, keySet: { keys: [one] }, algorithms: ['RS256'] };
    expect(await inTransaction(services.database, (tx) => keepReported(tx, late))).toBe(false);
    expect(await rowOf('lost')).toBeUndefined();
  });

  test('is gone with a cluster that is forgotten', async () => {
    await report('gone', 'one', { iss, keys: [one] });
    const drop = async (): Promise<boolean> => inTransaction(services.database, (tx) => dropReports(tx, 'gone', 10));
    expect(await drop()).toBe(false);
    expect(await rowOf('gone')).toBeUndefined();
  });

  test('is reported to the controllers that wait for it, once', async () => {
    const listener = await services.database.pool.connect();
    try {
      const heard: (string | undefined)[] = [];
      listener.on('notification', (message) => heard.push(message.payload));
      await listener.query('LISTEN keyframe');
      for (let time = 0; time < 2; time += 1) await report('heard', 'one', { iss, keys: [one] });
      // What was sent before has come with the answer.
      await listener.query('SELECT 1');
      expect(heard.map((payload) => JSON.parse(payload ?? ''))).toEqual([{ c: 'heard', q: 'enabled' }]);
    } finally {
      listener.release(true);
    }
  });

  test('is not taken from a standby', async () => {
    await claim('standby-issuer', 'one');
    await services.clusters.hello('standby-issuer', {
      uid: 'one',
      isLeading: false,
      ...program,
      issuer: { iss, keys: [one] },
    });
    expect(await rowOf('standby-issuer')).toBeUndefined();
  });

  test.each([
    ['disabled', '(name, disabled_at) VALUES ($1, now())'],
    ['forgotten', '(name, forgotten_at) VALUES ($1, now())'],
    ['remote', '(name, is_home) VALUES ($1, false)'],
  ])('is not taken from a %s cluster', async (state, values) => {
    const name = `issuer-${state}`;
    await services.database.pool.query(`INSERT INTO served_cluster ${values}`, [name]);
    await report(name, 'one', { iss, keys: [one] });
    expect(await rowOf(name)).toBeUndefined();
  });

  test.each([
    ['an odd name', { iss: 'https://a b', keys: [one] }],
    ['no usable key', { iss, keys: [{ kty: 'oct', k: 'secret' }] }],
    ['no point of its curve', { iss, keys: [{ ...two, x: 'A'.repeat(43) }] }],
    ['too many keys', { iss, keys: Array.from({ length: 21 }, () => one) }],
  ])('stays unknown with %s, and the hello is answered', async (what, issuer) => {
    await report(`odd-${what}`, 'one', issuer);
    expect(await rowOf(`odd-${what}`)).toBeUndefined();
  });
});
