import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../../../tools/devcluster/cluster/cluster.ts';

/**
 * Restarts the API server of a cluster: it signs the tokens of ServiceAccounts with a new key from then on. `keepsFormer`:
 * whether it still accepts, and lists, the keys of before.
 */
export async function signWithNewKey(
  { apiServer, runFolder }: Pick<Cluster, 'apiServer' | 'runFolder'>,
  { keepsFormer }: { readonly keepsFormer: boolean },
): Promise<void> {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const publicKey = createPublicKey(createPrivateKey(privateKey)).export({ type: 'spki', format: 'pem' });
  await apiServer?.kill();
  writeFileSync(join(runFolder, 'service-account.key'), privateKey);
  const write = keepsFormer ? appendFileSync : writeFileSync;
  write(join(runFolder, 'service-account.pub'), publicKey);
  await apiServer?.start();
}
