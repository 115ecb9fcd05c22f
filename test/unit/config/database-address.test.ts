import { describe, expect, test } from '@jest/globals';
import { loadMigrateConfig } from '../../../src/config/database-config.ts';
import { ConfigError, type ConfigSource } from '../../../src/config/source.ts';

function source(url: string, directUrl?: string): ConfigSource {
  const env = { KEYFRAME_DATABASE_URL: url, KEYFRAME_DATABASE_DIRECT_URL: directUrl };
  return { env, readTextFile: () => '' };
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
