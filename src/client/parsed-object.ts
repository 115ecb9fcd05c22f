import { isObject } from '../lib/is-object.ts';

/** The body of an answer. Keyframe always returns an object of JSON; undefined for anything else. */
export function parsedObject(
  contentType: string | undefined,
  text: string,
): Readonly<Record<string, unknown>> | undefined {
  if (!/[/+]json\b/.test(contentType ?? '')) return undefined;
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}
