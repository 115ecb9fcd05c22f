import { startTestServer } from './test-server.ts';

/** Jest's globalSetup of the integration suite. */
export default startTestServer;
