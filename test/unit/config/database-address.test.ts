import { describe, expect, test } from '@jest/globals';
import { loadMigrateConfig } from '../../../src/config/database-config.ts';
import { makeAuthority } from '../../support/fixtures/certificate.ts';
import { ConfigError, type ConfigSource } from '../../../src/config/source.ts';

function source(url: string, directUrl?: string, files: Readonly<Record<string, string>> = {}): ConfigSource {
  const env = { KEYFRAME_DATABASE_URL: url, KEYFRAME_DATABASE_DIRECT_URL: directUrl };
  return {
    env,
    readTextFile(path) {
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' });
      return text;
    },
  };
}

function faultsOf(given: ConfigSource): readonly string[] {
  try {
    loadMigrateConfig(given);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

describe('the address of PostgreSQL', () => {
  test.each(['any', 'read-write', 'primary'])('may ask for target_session_attrs=%s', (attrs) => {
    const url = `postgresql://u:a%2Cb@db/y?target_session_attrs=${attrs}`;
    expect(loadMigrateConfig(source(url)).databaseUrl.reveal()).toBe(url);
  });

  test.each(['read-only', 'standby', 'prefer-standby', 'canary'])(
    'may not ask for target_session_attrs=%s',
    (attrs) => {
      const given = source('postgresql://u:p@db/y', `postgresql://u:p@db/y?target_session_attrs=${attrs}`);
      expect(faultsOf(given)).toEqual([
        'KEYFRAME_DATABASE_DIRECT_URL: asks for a server that may take no writes (target_session_attrs), and Keyframe uses only the primary: write read-write, or leave it out',
      ]);
    },
  );

  test.each([
    ['each with its port', 'postgresql://u:canary@db1:5432,db2:5432/y'],
    ['at one port', 'postgresql://u:canary@db1,db2/y'],
    ['in the parameter host', 'postgresql://u:canary@db/y?host=a,b'],
  ])('may not name several hosts, %s', (_where, url) => {
    expect(faultsOf(source(url))).toEqual([
      'KEYFRAME_DATABASE_URL: names several hosts, and Keyframe connects to one: give the address that follows the primary, such as a Service or a proxy',
    ]);
  });
});

describe('the files that an address names', () => {
  const authority = makeAuthority();
  const [own, other] = [1, 2].map(() => authority.issue({ names: ['client'], addresses: [] }));
  const files = {
    '/ca': authority.certificate,
    '/cert': own?.certificate ?? '',
    '/key': own?.key ?? '',
    '/other': other?.key ?? '',
    '/canary': 'canary',
  };
  const address = (search: string): string => `postgresql://u:p@db/y?${search}`;

  test('are used if they can be read and fit each other', () => {
    const url = address('sslrootcert=/ca&sslcert=/cert&sslkey=/key');
    expect(faultsOf(source(url, url, files))).toEqual([]);
  });

  test.each(['sslrootcert', 'sslcert', 'sslkey'])('are missed in %s, in each address', (parameter) => {
    const url = address(`sslmode=verify-full&${parameter}=/canary/gone`);
    const fault = `names a file in ${parameter} that cannot be read (ENOENT): mount the file there, or leave ${parameter} out`;
    expect(faultsOf(source(url, url, files))).toEqual([
      `KEYFRAME_DATABASE_URL: ${fault}`,
      `KEYFRAME_DATABASE_DIRECT_URL: ${fault}`,
    ]);
  });

  test.each([
    ['no certificate', 'sslrootcert=/canary', 'names a file in sslrootcert without a valid certificate in PEM'],
    ['no key', 'sslcert=/cert&sslkey=/canary', 'names files in sslcert and sslkey that are no certificate and its key'],
    ['another key', 'sslcert=/cert&sslkey=/other', 'names files in sslcert and sslkey that are no certificate'],
  ])('are refused with %s', (_case, search, fault) => {
    const found = faultsOf(source(address(search), undefined, files));
    expect(found).toEqual([expect.stringContaining(`KEYFRAME_DATABASE_URL: ${fault}`)]);
    expect(found.join()).not.toContain('canary');
  });
});
