import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, test } from '@jest/globals';
import { RateLimits, noRateLimits } from '../../../src/http/admission/rate-limits.ts';
import { WorkLimit } from '../../../src/http/admission/work-limit.ts';
import { documentationRouter } from '../../../src/http/documentation.ts';
import { bareApp, listenerOf } from '../../../src/http/bare-app.ts';
import { commandRouter } from '../../../src/http/command-download.ts';
import { referenceRouter } from '../../../src/http/openapi/reference.ts';
import { openContext } from '../../../src/http/request-context.ts';
import { publicContentSender } from '../../../src/http/response/public-content.ts';
import { HttpServer } from '../../../src/http/server.ts';
import { buildDocumentation, documentationFolder } from '../../../tools/build/documentation.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

/** What is public needs no token: a reader that takes nothing must not hold its connection. */

// The rest of a large response is written when its reader has read what comes before, with a patience of its own.
const stallTimeoutMs = 300;
// The server ends every connection after a minute for another reason.
const patience = { timeoutMs: 30_000 };
let server: HttpServer;
/** Called for each request that is handled. */
let handled: () => void;
afterEach(() => server.close(0));

async function serve(): Promise<void> {
  await buildDocumentation();
  const app = bareApp();
  app.use((request, _response, next) => {
    openContext(request, { id: 'test', route: 'unmatched' });
    next();
  });
  const limits = { rateLimits: new RateLimits(noRateLimits), workLimit: new WorkLimit() };
  const sendPublic = publicContentSender({ ...limits, stallTimeoutMs });
  // Any file does for the command.
  const file = fileURLToPath(new URL('../../../docs/openapi.json', import.meta.url));
  app.use(
    referenceRouter(sendPublic),
    documentationRouter(documentationFolder, sendPublic),
    commandRouter(file, sendPublic),
  );
  const address = { host: '127.0.0.1', port: 0, portVariable: 'KEYFRAME_PORT', hostVariable: 'KEYFRAME_HOST' };
  const listener = listenerOf(app);
  server = await HttpServer.listen(
    (request, response) => {
      handled();
      listener(request, response);
    },
    { ...address, stallTimeoutMs },
  );
}

test.each(['/openapi.json', '/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css', '/docs/cli.md', '/cli'])(
  'a reader that takes nothing of %s is cut off',
  async (path) => {
    await serve();
    const socket = connect({ port: server.port, host: '127.0.0.1' }).pause();
    socket.on('error', () => {});
    const ask = (): void => void socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const begun = Promise.withResolvers<void>();
    // So many that the kernel does not keep all responses for both sides, but not many in advance.
    handled = () => {
      begun.resolve();
      ask();
    };
    ask();
    await begun.promise;
    await waitFor('the connection to be cut off', () => server.connections === 0, patience);
    socket.destroy();
  },
);
