import { buildCli } from './build-cli.ts';
import { forgetBuild } from './build-if-stale.ts';
import { buildServer } from './build-server.ts';

/** Builds both programs: dist/server/main.js, the server, and dist/keyframe.cjs, the command. What asks for them next finds them. */
forgetBuild('server');
forgetBuild('cli');
await Promise.all([buildServer(), buildCli()]);
