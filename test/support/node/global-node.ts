import { startSharedNode } from './running-node.ts';

/** Jest's globalSetup of the suite on a node. */
export default startSharedNode;
