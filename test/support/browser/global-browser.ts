import { buildDashboard } from '../../../tools/build/dashboard.ts';
import { startTestServer } from '../api/test-server.ts';
import { prepareChromium } from './chromium.ts';

/** Jest's globalSetup of the browser suite. */
export default async function startBrowserSuite(): Promise<void> {
  await Promise.all([startTestServer(), buildDashboard(), prepareChromium()]);
}
