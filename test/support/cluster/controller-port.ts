import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeAuthority } from '../../../src/crypto/authority.ts';
import { machineName } from '../../../tools/devcluster/cluster/network-space.ts';
import { freePort } from '../../../tools/free-port.ts';

/** The port of controllers of a server, with a CA of its own. */
export interface ControllerPort {
  readonly port: number;
  readonly caFile: string;
  /** Variables of the server, without the prefix. */
  readonly env: Readonly<Record<string, string>>;
}

/** Prepares a port of controllers for the names that clusters here use. */
export async function makeControllerPort(resources: AsyncDisposableStack): Promise<ControllerPort> {
  const folder = await mkdtemp(join(tmpdir(), 'keyframe-authority-'));
  resources.defer(() => rm(folder, { recursive: true }));
  const names = ['localhost', machineName];
  const { certificate, key } = await makeAuthority(names, Date.now());
  const [caFile, keyFile] = [join(folder, 'ca.crt'), join(folder, 'ca.key')];
  await writeFile(caFile, certificate);
  await writeFile(keyFile, key.reveal(), { mode: 0o600 });
  const port = await freePort();
  const env = {
    CLUSTER_PORT: String(port),
    CLUSTER_CA_FILE: caFile,
    CLUSTER_CA_KEY_FILE: keyFile,
    CLUSTER_TLS_NAMES: names.join(','),
  };
  return { port, caFile, env };
}
