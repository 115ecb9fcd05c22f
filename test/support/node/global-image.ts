import { makeImageSite } from './image-site.ts';
import { startTestServer } from '../api/test-server.ts';

/** Jest's globalSetup of the image suite. */
export default async function setUp(): Promise<void> {
  await startTestServer();
  await makeImageSite();
}
