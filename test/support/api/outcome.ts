/** What a call of a service came to: `done`, or the code of its refusal. Throws anything else that the call throws. */
export async function outcomeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'done',
    (error: unknown) => {
      if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
      throw error;
    },
  );
}
