import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withBuildLock } from '../devcluster/cluster/build-lock.ts';
import { cacheFolder } from '../devcluster/cluster/cache-folder.ts';

/** The fuzzer cannot be had on this machine; the message says what to install. */
export class FuzzerMissing extends Error {}

const run = promisify(execFile);
const requirementsFile = join(import.meta.dirname, 'requirements.txt');
const installLimitMs = 10 * 60_000;
const versionCheck = 'import sys, venv, ensurepip; sys.exit(0 if sys.version_info >= (3, 10) else 1)';

/**
 * The program `schemathesis` of the pinned requirements, in a Python environment of its own in the cache folder; made where
 * it is not there yet. Throws FuzzerMissing without Python 3.10, or where the packages cannot be had.
 */
export async function findSchemathesis(env: NodeJS.ProcessEnv): Promise<string> {
  const python = await findPython();
  const { stdout: version } = await run(python, ['--version']);
  const digest = createHash('sha256').update(readFileSync(requirementsFile)).update(version).digest('hex');
  const folder = join(cacheFolder(env), `fuzz-${digest.slice(0, 16)}`);
  const program = join(folder, 'bin', 'schemathesis');
  const mark = join(folder, '.complete');
  await withBuildLock(
    `${folder}.lock`,
    (pid) => console.log(`waiting for process ${pid}, which installs schemathesis`),
    async () => {
      if (existsSync(mark)) return;
      console.log('installing schemathesis (once)');
      rmSync(folder, { recursive: true, force: true });
      await install(python, folder);
      writeFileSync(mark, '');
    },
  );
  return program;
}

async function install(python: string, folder: string): Promise<void> {
  try {
    await run(python, ['-m', 'venv', folder], { timeout: installLimitMs });
    const options = ['--quiet', '--disable-pip-version-check', '--no-input'];
    const pip = ['-m', 'pip', 'install', ...options, '-r', requirementsFile];
    await run(join(folder, 'bin', 'python'), pip, { timeout: installLimitMs });
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    throw new FuzzerMissing(`pip could not install schemathesis from PyPI: ${lastLine(stderr)}`, { cause: error });
  }
}

async function findPython(): Promise<string> {
  for (const name of ['python3', 'python']) {
    const found = await run(name, ['-c', versionCheck]).then(
      () => true,
      () => false,
    );
    if (found) return name;
  }
  throw new FuzzerMissing('install Python 3.10 or later with its venv module (Debian: apt-get install python3-venv)');
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
