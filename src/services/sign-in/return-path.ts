import { limits } from '../../domain/limits.ts';

const anyOrigin = 'https://keyframe.invalid';

/**
 * Whether a text is a path on this server, to which a browser may be sent after a sign-in. Browsers read `//host` and `/\`
 * as another host, and remove tabs and line breaks before they do.
 */
export function isReturnPath(text: string): boolean {
  if (text.length > limits.returnPathLength || !/^\/(?![/\\])/.test(text) || /[\\\p{Cc}\p{Cs}]/u.test(text))
    return false;
  const url = URL.parse(text, anyOrigin);
  // `/..//host` becomes `//host`, which must not be read again.
  return url?.origin === anyOrigin && !url.pathname.startsWith('//');
}
