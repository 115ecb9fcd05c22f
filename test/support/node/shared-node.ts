import type { Cluster } from '../../../tools/devcluster/cluster/cluster.ts';
import type { NodeImages } from './node-images.ts';

/** What a test file knows of the one cluster with a node of a jest run. */
export interface SharedNode extends Pick<Cluster, 'kubeconfig' | 'runFolder' | 'url'> {
  readonly images: NodeImages;
  /** The folder with the files of a release: the installations come from there. */
  readonly release: string;
}

/** Where the tests find it: JSON, set by the global setup in this process and inherited by jest's workers. */
const nodeVariable = 'KEYFRAME_TEST_NODE';

export function shareNode(node: SharedNode): void {
  process.env[nodeVariable] = JSON.stringify(node);
}

/** Throws where the suite's global setup has started no node. */
export function sharedNode(): SharedNode {
  const text = process.env[nodeVariable];
  if (text === undefined) throw new Error('No node was started: the global setup of the jest project «node» does it.');
  return JSON.parse(text) as SharedNode;
}
