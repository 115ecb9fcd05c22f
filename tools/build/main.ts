import { buildCli } from './cli.ts';
import { buildDashboard } from './dashboard.ts';
import { buildDocumentation } from './documentation.ts';
import { forgetBuild } from './if-stale.ts';
import { buildServer } from './server.ts';

/**
 * Builds everything: dist/server/main.js, the server, dist/keyframe.cjs, the command, dist/dashboard/ and dist/documentation/. What
 * asks for them next finds them.
 */
for (const name of ['server', 'cli', 'dashboard', 'documentation']) forgetBuild(name);
await Promise.all([buildServer(), buildCli(), buildDashboard(), buildDocumentation()]);
