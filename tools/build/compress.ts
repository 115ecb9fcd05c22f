import { readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Writes the compressed forms of a text beside it, which the server sends as they are. */
export function compress(file: string): void {
  const content = readFileSync(file);
  const size = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  writeFileSync(`${file}.br`, brotliCompressSync(content, { params: size }));
  writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
}
