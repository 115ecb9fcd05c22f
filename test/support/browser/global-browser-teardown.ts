import { stopTestServer } from '../api/test-server.ts';

/** Jest's globalTeardown of the browser suite. */
export default stopTestServer;
