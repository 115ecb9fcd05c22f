import { removeImageSite } from './image-site.ts';
import { stopTestServer } from '../api/test-server.ts';

/** Jest's globalTeardown of the image suite. */
export default async function tearDown(): Promise<void> {
  removeImageSite();
  await stopTestServer();
}
