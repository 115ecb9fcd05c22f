/** What a User-Agent header says about a browser. Anything may send any header: it helps to recognize a session, no more. */

const browsers: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Headless)?Chrom(?:e|ium)\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

const systems: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

const maxLength = 40;

/** Such as "Firefox on Linux"; for other programs the beginning of what they call themselves. */
export function browserName(userAgent: string | null): string {
  if (userAgent === null || userAgent.trim() === '') return 'Unknown browser';
  const browser = nameIn(browsers, userAgent);
  const system = nameIn(systems, userAgent);
  if (browser !== undefined) return system === undefined ? browser : `${browser} on ${system}`;
  return userAgent.length > maxLength ? `${userAgent.slice(0, maxLength)}…` : userAgent;
}

export function isPhone(userAgent: string | null): boolean {
  return userAgent !== null && /\b(?:iPhone|Android.*Mobile)\b/.test(userAgent);
}

function nameIn(list: typeof browsers, text: string): string | undefined {
  return list.find(([pattern]) => pattern.test(text))?.[1];
}
