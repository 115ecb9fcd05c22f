// A program that starts a cluster and keeps it, as `npm start` does, for tests that end it in some way.
import { parseArgs } from 'node:util';
import { startCluster } from '../../../tools/devcluster/cluster/cluster.ts';

/** The launcher's first line of output, as JSON. */
export interface LaunchedCluster {
  readonly url: string;
  readonly kubeconfig: string;
  readonly runFolder: string;
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: { 'with-node': { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const [publishTo] = positionals;
  const place = publishTo === undefined ? {} : { publishTo };
  const withNode = values['with-node'];
  const { url, kubeconfig, runFolder } = await startCluster({ sources: ['built'], withNode, ...place });
  const launched: LaunchedCluster = { url, kubeconfig, runFolder };
  console.log(JSON.stringify(launched));
  process.on('SIGUSR2', () => {
    throw new Error('A planned fault.');
  });
  setInterval(() => undefined, 2 ** 30);
}
