import { describe, expect, test } from '@jest/globals';
import { Fault } from '../../../src/environment-reader.ts';
import { readRecoveredOptions } from '../../../src/recovered-options.ts';

const file = ['--token-file', '/run/token'];
const iso = '--before: must be a time of ISO 8601 with its offset, such as 2027-01-31T12:00:00Z';

describe('the options of the role recovered', () => {
  test('are a file, and whose token and which moment where they are told', () => {
    expect(readRecoveredOptions(file)).toEqual({ tokenFile: '/run/token', admin: null, before: null });
    const more = ['--admin', ' Admin@Example.com ', '--before', '2026-11-21T23:15:00.5+01:00'];
    expect(readRecoveredOptions([...file, ...more])).toEqual({
      tokenFile: '/run/token',
      admin: 'admin@example.com',
      before: new Date('2026-11-21T22:15:00.500Z'),
    });
  });

  test.each([
    [[], '--token-file: name the file that will be made to hold the new token of an instance admin'],
    [['--token-file', ' '], '--token-file: name the file that will be made to hold the new token of an instance admin'],
    [['--token-file'], 'it takes --token-file FILE, --admin EMAIL and --before TIME; --help tells more'],
    [[...file, 'canary'], 'it takes --token-file FILE, --admin EMAIL and --before TIME; --help tells more'],
    [[...file, '--canary'], 'it takes --token-file FILE, --admin EMAIL and --before TIME; --help tells more'],
    [[...file, '--admin', 'canary'], '--admin: must be an e-mail address'],
    [[...file, '--before', 'canary'], iso],
    [[...file, '--before', ''], iso],
    [[...file, '--before', '2026-11-21'], iso],
    [[...file, '--before', '2026-11-21T10:00:00'], iso],
    [[...file, '--before', '2026-02-30T10:00:00Z'], iso],
    [[...file, '--before', '2026-11-21T25:00:00Z'], iso],
  ])('%j are refused with advice that does not repeat them', (args, advice) => {
    expect(readRecoveredOptions(args)).toEqual(new Fault(advice));
  });
});
