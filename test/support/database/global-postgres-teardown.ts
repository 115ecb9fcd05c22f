import { stopTestServer } from '../api/test-server.ts';

/** Jest's globalTeardown of the integration suite. */
export default stopTestServer;
