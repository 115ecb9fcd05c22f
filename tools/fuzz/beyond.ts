import { randomUUID } from 'node:crypto';
import { insertIdentity } from '../../src/store/identities.ts';
import { insertPasskey } from '../../src/store/passkeys.ts';
import { inTransaction } from '../../src/store/transaction.ts';
import { createKeylessTokens } from '../../src/store/keyless-tokens.ts';
import { reportSyncStates } from '../../src/store/sync-states.ts';
import { openDatabase } from '../../src/store/database.ts';
import type { Beyond } from './world.ts';

/** What no request can do, done in a database. */
export function beyondRequests(databaseUrl: string): Beyond {
  return {
    actAsController: (environmentId) => actAsController(databaseUrl, environmentId),
    keepLogin: (deviceCode) => keepLogin(databaseUrl, deviceCode),
    linkIdentity: (userId) => linkIdentity(databaseUrl, userId),
    registerPasskey: (userId) => registerPasskey(databaseUrl, userId),
  };
}

/** Does what the controller does for a SecretSync, as no request can. Returns the id of its keyless token. */
async function actAsController(url: string, environmentId: string): Promise<string> {
  const database = openDatabase({ url, poolSize: 2 });
  const id = randomUUID();
  const creator = { id: randomUUID(), name: 'SecretSync team-a/app' };
  const token = { id, name: 'SecretSyncs of team-a', cluster: 'fuzz', namespace: 'team-a', environmentId, creator };
  try {
    // Another cluster, to be forgotten.
    const doomed = { ...token, id: randomUUID(), cluster: 'doomed' };
    const tokens = [token, doomed].map((one) => ({ ...one, requestId: randomUUID() }));
    await createKeylessTokens(database.pool, tokens);
    const reports = [{ ...syncState, uid: creator.id, environmentId }];
    await reportSyncStates(database, 'fuzz', { reports, limits: { sources: 1, namespaces: 1 } });
  } finally {
    await database.close();
  }
  return id;
}

async function keepLogin(url: string, deviceCode: string): Promise<void> {
  const database = openDatabase({ url, poolSize: 1 });
  try {
    const text = `UPDATE login_request SET expires_at = clock_timestamp() + interval '1 hour' WHERE id = $1`;
    await database.pool.query(text, [deviceCode]);
  } finally {
    await database.close();
  }
}

async function linkIdentity(url: string, userId: string): Promise<string> {
  const database = openDatabase({ url, poolSize: 2 });
  const id = randomUUID();
  const creator = { actor: null, derivedAt: null };
  const identity = { id, userId, issuer: 'https://issuer.example', subject: userId, creator, delegators: [] };
  try {
    await inTransaction(database, (tx) => insertIdentity(tx, identity));
  } finally {
    await database.close();
  }
  return id;
}

async function registerPasskey(url: string, userId: string): Promise<string> {
  const database = openDatabase({ url, poolSize: 2 });
  const id = randomUUID();
  const key = { credentialId: Buffer.from(id), publicKey: Buffer.from('x'), counter: 0, transports: [] };
  const about = { rpId: 'localhost', name: 'Laptop', backedUp: false };
  const made = { creator: { actor: null, derivedAt: null }, delegators: [] };
  try {
    await inTransaction(database, (tx) => insertPasskey(tx, { id, userId, ...key, ...about, ...made }));
  } finally {
    await database.close();
  }
  return id;
}

const syncState = {
  source: '',
  namespace: 'team-a',
  name: 'app',
  isPinned: false,
  state: 'ready',
  reason: 'Synced',
  wanted: null,
  synced: null,
  syncedAt: null,
  secretName: 'app',
  rollout: {
    state: 'converged',
    reason: 'Converged',
    converged: null,
    workloads: [{ kind: 'Deployment', name: 'web' }],
  },
} as const;
