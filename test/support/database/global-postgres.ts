import { startTestServer } from '../api/test-server.ts';

/** Jest's globalSetup of the integration suite. */
export default startTestServer;
