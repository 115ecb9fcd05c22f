import { stopSharedNode } from './running-node.ts';

/** Jest's globalTeardown of the suite on a node. */
export default stopSharedNode;
