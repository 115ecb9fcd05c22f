import { describe, expect, test } from '@jest/globals';
import { unmetNeed } from '../../../src/controller/kinds/secret-sync/data/type-needs.ts';

type Type = Parameters<typeof unmetNeed>[0];

function need(type: Type, values: Readonly<Record<string, string>>): string | undefined {
  return unmetNeed(type, new Map(Object.entries(values).map(([key, value]) => [key, Buffer.from(value)])));
}

const met: readonly [type: Type, values: Record<string, string>][] = [
  ['Opaque', {}],
  ['kubernetes.io/basic-auth', { username: '' }],
  ['kubernetes.io/basic-auth', { password: 'x', OTHER: 'y' }],
  ['kubernetes.io/dockercfg', { '.dockercfg': '{}' }],
  ['kubernetes.io/dockerconfigjson', { '.dockerconfigjson': '{"auths":{}}', more: '' }],
  ['kubernetes.io/dockerconfigjson', { '.dockerconfigjson': 'null' }],
  ['kubernetes.io/ssh-auth', { 'ssh-privatekey': 'x' }],
  ['kubernetes.io/tls', { 'tls.crt': '', 'tls.key': '' }],
];

const unmet: readonly [type: Type, values: Record<string, string>, need: string][] = [
  [
    'kubernetes.io/basic-auth',
    { USERNAME: 'x' },
    'Type kubernetes.io/basic-auth requires the key username or password.',
  ],
  ['kubernetes.io/dockercfg', {}, 'Type kubernetes.io/dockercfg requires the key .dockercfg.'],
  ['kubernetes.io/dockercfg', { '.dockercfg': '' }, 'requires a JSON object as the value of .dockercfg.'],
  ['kubernetes.io/dockerconfigjson', { '.dockercfg': '{}' }, 'requires the key .dockerconfigjson.'],
  [
    'kubernetes.io/dockerconfigjson',
    { '.dockerconfigjson': '[1]' },
    'requires a JSON object as the value of .dockerconfigjson.',
  ],
  [
    'kubernetes.io/dockerconfigjson',
    { '.dockerconfigjson': '{"token' },
    'requires a JSON object as the value of .dockerconfigjson.',
  ],
  [
    'kubernetes.io/dockerconfigjson',
    { '.dockerconfigjson': '7' },
    'requires a JSON object as the value of .dockerconfigjson.',
  ],
  ['kubernetes.io/ssh-auth', { 'ssh-privatekey': '' }, 'requires the key ssh-privatekey with a value.'],
  ['kubernetes.io/tls', {}, 'requires the keys tls.crt and tls.key; tls.crt and tls.key are missing.'],
  ['kubernetes.io/tls', { 'tls.crt': 'x' }, 'requires the keys tls.crt and tls.key; tls.key is missing.'],
];

describe('the needs of a type', () => {
  test.each(met)('%s are met by %j', (type, values) => expect(need(type, values)).toBeUndefined());

  test.each(unmet)('%s are not met by %j', (type, values, sentence) => expect(need(type, values)).toContain(sentence));
});

test.each(['Opaque', 'example.com/new', 'constructor', 'toString'])('the type %s requires nothing', (type) => {
  expect(unmetNeed(type, new Map())).toBeUndefined();
});
