import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { build } from 'esbuild';
import { serverBundle } from '../build/server.ts';
import { checkoutDirectory } from '../checkout.ts';

/** The program keyframe-server as one file, packed. It runs where package.json and prisma/migrations are beside it. */
export async function packProgram(): Promise<Buffer> {
  const { outputFiles } = await build({
    ...serverBundle,
    entryPoints: [join(checkoutDirectory, 'src', 'main.ts')],
    outdir: 'dist',
    splitting: false,
    sourcemap: false,
    minifyWhitespace: true,
    write: false,
  });
  const [program] = outputFiles;
  if (program === undefined) throw new Error('the server has no bundle');
  return pack(program.contents);
}

export function pack(contents: string | Uint8Array): Buffer {
  return brotliCompressSync(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
}
