import { describe, expect, test } from '@jest/globals';
import { parseStartOptions } from '../../../tools/start/options.ts';

describe('the options of npm start', () => {
  test('are one cluster without any', () => {
    expect(parseStartOptions([])).toEqual({ once: false, cluster: true, clusters: 1 });
  });

  test('name the number of clusters', () => {
    expect(parseStartOptions(['--clusters', '2', '--once'])).toEqual({ once: true, cluster: true, clusters: 2 });
    expect(parseStartOptions(['--no-cluster'])).toEqual({ once: false, cluster: false, clusters: 0 });
  });

  test.each(['0', '5', 'two', '1.5', ''])('refuse %j as a number of clusters', (count) => {
    expect(() => parseStartOptions(['--clusters', count])).toThrow('--clusters must be a number from 1 to 4.');
  });

  test.each([
    ['--no-cluster', '--clusters', '2'],
    ['--no-cluster', '--once'],
  ])('refuse %s with %s', (...args) => {
    expect(() => parseStartOptions(args)).toThrow('give one of them');
  });

  test('say what is wrong with an unknown one', () => {
    expect(() => parseStartOptions(['--cluster'])).toThrow('"npm start -- --help" lists the options.');
  });
});
