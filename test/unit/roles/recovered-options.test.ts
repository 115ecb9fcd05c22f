import { describe, expect, test } from '@jest/globals';
import { ExitError, exitCodes } from '../../../src/config/exit-error.ts';
import { readRecoveredOptions } from '../../../src/roles/recovered/options.ts';

const file = ['--token-file', '/run/token'];
const iso = '--before: must be an ISO 8601 time with a UTC offset, such as 2027-01-31T12:00:00Z';

describe('the options of the role recovered', () => {
  test('are a file, and whose token, which moment and whether it is a copy if they are given', () => {
    const none = { tokenFile: '/run/token', admin: null, before: null, newInstance: false };
    expect(readRecoveredOptions(file)).toEqual(none);
    const more = ['--new-instance', '--admin', ' Admin@Example.com ', '--before', '2026-11-21T23:15:00.5+01:00'];
    expect(readRecoveredOptions([...file, ...more])).toEqual({
      tokenFile: '/run/token',
      admin: 'admin@example.com',
      before: new Date('2026-11-21T22:15:00.500Z'),
      newInstance: true,
    });
  });

  test.each([
    [[], '--token-file: name the file to create for the new token of an instance admin'],
    [['--token-file', ' '], '--token-file: name the file to create for the new token of an instance admin'],
    [['--token-file'], 'it takes --token-file FILE, --admin EMAIL, --before TIME and --new-instance; see --help'],
    [
      [...file, '--new-instance=canary'],
      'it takes --token-file FILE, --admin EMAIL, --before TIME and --new-instance; see --help',
    ],
    [[...file, 'canary'], 'it takes --token-file FILE, --admin EMAIL, --before TIME and --new-instance; see --help'],
    [[...file, '--canary'], 'it takes --token-file FILE, --admin EMAIL, --before TIME and --new-instance; see --help'],
    [[...file, '--admin', 'canary'], '--admin: must be an e-mail address, and not begin with group:'],
    [[...file, '--before', 'canary'], iso],
    [[...file, '--before', ''], iso],
    [[...file, '--before', '2026-11-21'], iso],
    [[...file, '--before', '2026-11-21T10:00:00'], iso],
    [[...file, '--before', '2026-02-30T10:00:00Z'], iso],
    [[...file, '--before', '2026-11-21T25:00:00Z'], iso],
  ])('%j are refused with advice that does not repeat them', (args, advice) => {
    let thrown: unknown;
    try {
      readRecoveredOptions(args);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ExitError);
    expect(thrown).toMatchObject({ exitCode: exitCodes.usage, message: `recovered: ${advice}` });
  });
});
