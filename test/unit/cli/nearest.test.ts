import { expect, test } from '@jest/globals';
import { nearest } from '../../../src/cli/core/nearest.ts';

const keys = ['API_KEY', 'DATABASE_PASSWORD', 'LOG_LEVEL', 'LOG_LEVELS', 'X'];

test.each([
  ['API_KEE', 'API_KEY'],
  ['api_key', 'API_KEY'],
  ['APIKEY', 'API_KEY'],
  ['AIP_KEY', 'API_KEY'],
  ['LOG_LEVEL', 'LOG_LEVEL'],
  ['LOGLEVELS', 'LOG_LEVELS'],
  ['DATABASE_PASWORT', 'DATABASE_PASSWORD'],
  ['database', 'DATABASE_PASSWORD'],
])('%s is most similar to %s', (word, found) => {
  expect(nearest(word, keys)).toBe(found);
});

test.each(['', 'Y', 'DB', 'LOG', 'PASSWORD', 'API_KEY_OF_ANOTHER'])('%j is similar to nothing', (word) => {
  expect(nearest(word, keys)).toBeUndefined();
});
