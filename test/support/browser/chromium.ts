import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { cacheFolder } from '../../../tools/devcluster/cluster/cache-folder.ts';

/** A browser that can be started. */
export interface Chromium {
  readonly program: string;
  /** What it needs in its environment besides the usual. */
  readonly env: Readonly<Record<string, string>>;
}

/** Where the tests find it as JSON. Set in jest's own process, inherited by its workers. */
const chromiumVariable = 'KEYFRAME_TEST_CHROMIUM';

const run = promisify(execFile);

/**
 * Finds the browser of this run: the one that CHROME_PATH names, or the one of the package @sparticuz/chromium, which is
 * unpacked into the cache folder once. Throws if it does not start.
 */
export async function prepareChromium(): Promise<void> {
  const chromium = await findChromium(process.env);
  process.env[chromiumVariable] = JSON.stringify(chromium);
}

/** The browser that `prepareChromium` found. */
export function preparedChromium(): Chromium {
  const found = process.env[chromiumVariable];
  if (found === undefined) throw new Error('No browser was prepared: run this test in the project "browser" or "e2e".');
  return JSON.parse(found) as Chromium;
}

async function findChromium({ CHROME_PATH: named, ...env }: NodeJS.ProcessEnv): Promise<Chromium> {
  if (named !== undefined && named !== '') return starting([{ program: named, env: {} }]);
  const folder = await unpackedFolder(env);
  const program = join(folder, 'chromium');
  // The same fonts on every machine. Its libraries are used only if the machine lacks them.
  const fonts = { FONTCONFIG_FILE: join(folder, 'fonts.conf') };
  const libraries = { LD_LIBRARY_PATH: join(folder, 'al2023', 'lib') };
  return starting([
    { program, env: fonts },
    { program, env: { ...fonts, ...libraries } },
  ]);
}

/** The first of these that starts. */
async function starting(candidates: readonly Chromium[]): Promise<Chromium> {
  const faults: string[] = [];
  for (const { program, env } of candidates) {
    try {
      await run(program, ['--version'], { env: { ...process.env, ...env }, timeout: 60_000 });
      return { program, env };
    } catch (error) {
      faults.push((error as Error).message.trim());
    }
  }
  throw new Error(`The browser does not start. CHROME_PATH can name another one.\n${faults.join('\n')}`);
}

async function unpackedFolder(env: NodeJS.ProcessEnv): Promise<string> {
  const { devDependencies } = JSON.parse(readFileSync(join(checkoutDirectory, 'package.json'), 'utf8')) as {
    devDependencies: Readonly<Record<string, string>>;
  };
  const folder = join(cacheFolder(env), `chromium-${devDependencies['@sparticuz/chromium']}-${process.arch}`);
  if (existsSync(folder)) return folder;
  const fresh = `${folder}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  try {
    await run(process.execPath, [join(import.meta.dirname, 'unpack-chromium.ts')], {
      // The package unpacks into the folder for temporary files, and its libraries only in such an environment.
      env: { ...env, TMPDIR: fresh, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' },
    });
    writeFileSync(join(fresh, 'fonts.conf'), fontsIn(folder));
    renameSync(fresh, folder);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    // Another run may have been faster.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

/** The package's own settings name folders of another machine. */
function fontsIn(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(folder, 'fonts')}</dir>
  <cachedir>${join(folder, 'font-cache')}</cachedir>
</fontconfig>
`;
}
