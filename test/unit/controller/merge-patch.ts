/** As much of a JSON merge patch as adds and changes. */
export function merged(target: unknown, patch: object): Record<string, unknown> {
  const into = { ...(target as Record<string, unknown> | undefined) };
  for (const [key, value] of Object.entries(patch) as [string, unknown][]) {
    into[key] = typeof value === 'object' && value !== null ? merged(into[key], value) : value;
  }
  return into;
}
