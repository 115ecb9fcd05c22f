import { stopTestServer } from './test-server.ts';

/** Jest's globalTeardown of the integration suite. */
export default stopTestServer;
