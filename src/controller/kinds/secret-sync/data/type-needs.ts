import type { SecretSyncSpec } from '../../../generated/secret-sync.ts';

/** A Secret's values by key, as they go into it. */
export type Values = ReadonlyMap<string, Uint8Array>;

/**
 * What a type of Secret demands that these values lack, in a sentence of names alone; undefined where they fit. As the API
 * server judges it (k8s.io/kubernetes pkg/apis/core/validation, ValidateSecret).
 */
export function unmetNeed(type: SecretSyncSpec['target']['type'], values: Values): string | undefined {
  return needs[type](values);
}

type Need = (values: Values) => string | undefined;

const needs: Readonly<Record<SecretSyncSpec['target']['type'], Need>> = {
  Opaque: () => undefined,
  'kubernetes.io/basic-auth': (values) =>
    values.has('username') || values.has('password')
      ? undefined
      : 'Type kubernetes.io/basic-auth needs the key username or password.',
  'kubernetes.io/dockercfg': needsJson('kubernetes.io/dockercfg', '.dockercfg'),
  'kubernetes.io/dockerconfigjson': needsJson('kubernetes.io/dockerconfigjson', '.dockerconfigjson'),
  'kubernetes.io/ssh-auth': (values) =>
    (values.get('ssh-privatekey')?.length ?? 0) > 0
      ? undefined
      : 'Type kubernetes.io/ssh-auth needs the key ssh-privatekey, and a value for it.',
  'kubernetes.io/tls': (values) => {
    const missing = ['tls.crt', 'tls.key'].filter((key) => !values.has(key));
    return missing.length === 0
      ? undefined
      : `Type kubernetes.io/tls needs the keys tls.crt and tls.key; ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing.`;
  },
};

function needsJson(type: string, key: string): Need {
  return (values) => {
    const value = values.get(key);
    if (value === undefined) return `Type ${type} needs the key ${key}.`;
    return isJsonObject(value)
      ? undefined
      : `Type ${type} needs a JSON object under the key ${key}; its value is none.`;
  };
}

function isJsonObject(value: Uint8Array): boolean {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(value).toString('utf8'));
    return typeof parsed === 'object' && !Array.isArray(parsed);
  } catch {
    // The parser's error quotes the value, so it goes no further.
    return false;
  }
}
