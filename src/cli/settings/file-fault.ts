const words: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
};

/** Why a file cannot be read or written, in words; the code of the system for a rare fault. */
export function fileFault(error: unknown): string {
  const { code = 'unknown' } = error as NodeJS.ErrnoException;
  return words[code] ?? code;
}
