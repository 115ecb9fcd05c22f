/** A JSON merge patch (RFC 7396): null removes, and an array replaces. */
export function merged(target: unknown, patch: object): Record<string, unknown> {
  const into = { ...(target as Record<string, unknown> | undefined) };
  for (const [key, value] of Object.entries(patch) as [string, unknown][]) {
    if (value === null) delete into[key];
    else into[key] = typeof value === 'object' && !Array.isArray(value) ? merged(into[key], value) : value;
  }
  return into;
}
