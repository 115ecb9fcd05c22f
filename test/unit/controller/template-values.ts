import { composeValues } from '../../../src/controller/kinds/secret-sync/data/template.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';

/** Values for templates, and what templates come to. */

export const limit = 1024 * 1024;
// Not UTF-8.
export const bytes = Buffer.from([0xff, 0x00, 0xfe]);
// Some of it means the same after it was parsed and written again, and some does not.
const login =
  '{"user": "ä@x", "port": 12345678901234567890, "tls": {"on": true, "x": [1.0, {}]}, "off": null, "a b": ""}';
export const values = new Map<string, Buffer>(
  Object.entries({
    USER: 'app',
    PASSWORD: 'p\'s"\\w',
    EMPTY: '',
    'tls.crt-1': '-----\nä🔑\n-----',
    LOGIN: login,
    LINE: ' \t a b\u00a0\n',
  }).map(([key, value]): [string, Buffer] => [key, Buffer.from(value)]),
).set('KEYSTORE', bytes);

/** What a template of the key T comes to. */
export function composed(text: string, synced: ReadonlyMap<string, Buffer> = values, most = limit): string {
  const [entry] = composeValues({ data: { T: text } }, synced, most);
  return entry?.[1].toString('utf8') ?? '';
}

export function refusal(text: string, synced = values, most = limit): DomainError {
  try {
    composed(text, synced, most);
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
