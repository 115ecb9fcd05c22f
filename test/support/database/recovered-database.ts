import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildServer } from '../../../tools/build/server.ts';
import { CapturedProcess } from '../faults/captured-process.ts';
import { compileCacheEnv } from '../api/compile-cache.ts';

export interface RoleRun {
  readonly role: 'migrate' | 'recovered' | 'api';
  readonly options?: readonly string[];
  /** `KEYFRAME_*` variables without the prefix. */
  readonly env: Readonly<Record<string, string>>;
}

/** Runs the built program to its end; what it wrote is in `captured`. */
export async function runRole({
  role,
  options = [],
  env,
}: RoleRun): Promise<{ readonly captured: CapturedProcess; readonly code: number | null }> {
  const variables = Object.entries(env).map(([name, value]) => [`KEYFRAME_${name}`, value]);
  const args = [await buildServer(), role, ...options];
  const captured = new CapturedProcess({
    name: role,
    program: process.execPath,
    args,
    env: { ...compileCacheEnv, ...Object.fromEntries(variables) },
  });
  const { code } = await captured.ended;
  return { captured, code };
}

/** Runs the role `recovered` on a restored database, as docs/backup-and-recovery.md says; answers the way back in. */
export async function recoverDatabase(
  databaseUrl: string,
): Promise<{ readonly token: string; readonly captured: CapturedProcess }> {
  const folder = await mkdtemp(join(tmpdir(), 'keyframe-recovered-'));
  try {
    const file = join(folder, 'token');
    const { captured, code } = await runRole({
      role: 'recovered',
      options: ['--token-file', file],
      env: { DATABASE_URL: databaseUrl },
    });
    if (code !== 0) throw new Error(`recovered ended with ${code}:\n${captured.output.toString()}`);
    return { token: (await readFile(file, 'utf8')).trim(), captured };
  } finally {
    await rm(folder, { recursive: true });
  }
}
