import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { connectionOptions } from '../../../src/store/address.ts';

const folder = mkdtempSync(join(tmpdir(), 'keyframe-address-test-'));
const caFile = join(folder, 'ca.pem');
writeFileSync(caFile, 'certificates of authorities');

afterAll(() => rmSync(folder, { recursive: true }));

describe('with a file of authorities, a connection is verified, whatever the URL says of TLS', () => {
  test.each([
    '',
    '?sslmode=require&uselibpqcompat=true',
    '?sslmode=no-verify',
    '?sslmode=disable',
    '?ssl=0',
    '?sslrootcert=/nowhere/ca.pem',
  ])('%s', (search) => {
    const options = connectionOptions({ url: `postgres://keyframe@database/keyframe${search}`, caFile });
    const { connectionParameters } = new pg.Client(options) as unknown as { connectionParameters: { ssl: unknown } };
    expect(connectionParameters.ssl).toMatchObject({ rejectUnauthorized: true, ca: 'certificates of authorities' });
  });
});
