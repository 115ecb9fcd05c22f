/** A fault whose message tells the person at the terminal what is wrong and what to do; to be shown without its stack. */
export class ClusterError extends Error {
  override readonly name = 'ClusterError';
}

/** Runs a command-line program: what it throws ends it with exit code 1, a ClusterError as its message alone. */
export async function runProgram(program: () => Promise<void>): Promise<void> {
  try {
    await program();
  } catch (error) {
    console.error(error instanceof ClusterError ? error.message : error);
    process.exit(1);
  }
}
