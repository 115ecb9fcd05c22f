import type { SecretSyncSpec } from '../../../generated/secret-sync.ts';
import { typeRequires, typeRequiresKeys } from '../source-messages.ts';

/** The values of a Secret by key. */
export type Values = ReadonlyMap<string, Uint8Array>;

/**
 * What a type of Secret requires and these values lack, as a sentence without values; undefined if they meet it. The rules are
 * those of the API server (k8s.io/kubernetes pkg/apis/core/validation, ValidateSecret).
 */
export function unmetNeed(type: SecretSyncSpec['target']['type'], values: Values): string | undefined {
  return needs.get(type)?.(values);
}

type Need = (values: Values) => string | undefined;

/** Kubernetes requires nothing of other types. */
const needs: ReadonlyMap<string, Need> = new Map(
  Object.entries<Need>({
    'kubernetes.io/basic-auth': (values) =>
      values.has('username') || values.has('password')
        ? undefined
        : typeRequires('kubernetes.io/basic-auth', 'the key username or password'),
    'kubernetes.io/dockercfg': needsJson('kubernetes.io/dockercfg', '.dockercfg'),
    'kubernetes.io/dockerconfigjson': needsJson('kubernetes.io/dockerconfigjson', '.dockerconfigjson'),
    'kubernetes.io/ssh-auth': (values) =>
      (values.get('ssh-privatekey')?.length ?? 0) > 0
        ? undefined
        : typeRequires('kubernetes.io/ssh-auth', 'the key ssh-privatekey with a value'),
    'kubernetes.io/tls': (values) => {
      const keys = ['tls.crt', 'tls.key'];
      const missing = keys.filter((key) => !values.has(key));
      return missing.length === 0 ? undefined : typeRequiresKeys('kubernetes.io/tls', keys, missing);
    },
  }),
);

function needsJson(type: string, key: string): Need {
  return (values) => {
    const value = values.get(key);
    if (value === undefined) return typeRequires(type, `the key ${key}`);
    return isJsonObject(value) ? undefined : typeRequires(type, `a JSON object as the value of ${key}`);
  };
}

function isJsonObject(value: Uint8Array): boolean {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(value).toString('utf8'));
    return typeof parsed === 'object' && !Array.isArray(parsed);
  } catch {
    // The parser's error quotes the value and must not be passed on.
    return false;
  }
}
