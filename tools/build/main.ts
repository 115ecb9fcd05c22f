import { buildCli } from './cli.ts';
import { forgetBuild } from './if-stale.ts';
import { buildServer } from './server.ts';

/** Builds both programs: dist/server/main.js, the server, and dist/keyframe.cjs, the command. What asks for them next finds them. */
forgetBuild('server');
forgetBuild('cli');
await Promise.all([buildServer(), buildCli()]);
