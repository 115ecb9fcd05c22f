import { bundleCli } from './build-cli.ts';
import { compileServer } from './build-server.ts';

/** Builds both programs: dist/main.js, the server, and dist/keyframe.cjs, the command. */
await Promise.all([compileServer(), bundleCli()]);
