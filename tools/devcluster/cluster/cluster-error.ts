/** An error whose message says what is wrong and what to do. It is shown without its stack. */
export class ClusterError extends Error {
  override readonly name = 'ClusterError';
}

/** What `parseArgs` of node:util says of a faulty argument, in one sentence; undefined for any other error. */
export function argumentFault(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_')))
    return undefined;
  // It goes on about positional arguments, which these programs do not take.
  return error.message.replace(/\.? To specify .*$/s, '').replace(/\.?$/, '.');
}

/**
 * Runs a command-line program: what it throws ends it with exit code 1, a ClusterError as its message alone and a faulty
 * argument with the usage.
 */
export async function runProgram(program: () => Promise<void>, usage = ''): Promise<void> {
  try {
    await program();
  } catch (error) {
    const fault = argumentFault(error);
    if (fault !== undefined) console.error(`${fault}\n\n${usage}`.trimEnd());
    else console.error(error instanceof ClusterError ? error.message : error);
    process.exit(1);
  }
}
