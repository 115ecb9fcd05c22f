import { describe, expect, test } from '@jest/globals';
import { defaultReason, filesLeftOut, filesOfDefault, markedSuites, seedOf } from '../../../tools/test-run/size.ts';

describe('the mark of the default size', () => {
  test.each([
    ['at the top', '/** @default A change of a value reaches the Secret. */\nimport a;\n'],
    ['behind the imports', "import a from 'a';\n\n/** @default A change of a value reaches the Secret. */\n"],
    ['over several lines', '/**\n * @default A change of a value\n * reaches the Secret.\n */\nimport a;\n'],
  ])('has its reason %s', (_case, source) => {
    expect(defaultReason(source)).toBe('A change of a value reaches the Secret.');
  });

  test('has an empty reason if it gives none', () => {
    expect(defaultReason('/** @default */\n')).toBe('');
  });

  test.each([
    ['is not there', "import a from 'a';\n"],
    ['is in a second comment', '// One story.\n/** @default A change reaches the Secret. */\n'],
    ['is in a comment of lines', '// @default A change reaches the Secret.\n'],
    ['is in a plain comment', '/* @default A change reaches the Secret. */\n'],
    ['is another word', '/** @defaults A change reaches the Secret. */\n'],
    ['is not the first word', '/** A test. @default A change reaches the Secret. */\n'],
  ])('does not count if it %s', (_case, source) => {
    expect(defaultReason(source)).toBeUndefined();
  });
});

describe('the default size', () => {
  test.each(markedSuites)('leaves out the files of %s without a mark', (suite) => {
    const paths = filesOfDefault(suite).map(({ path }) => path);
    expect(filesLeftOut(suite)).not.toEqual([]);
    expect(filesLeftOut(suite).filter((path) => paths.includes(path))).toEqual([]);
  });

  test('has all integration tests except those of tools', () => {
    const folders = new Set(filesLeftOut('integration').map((path) => path.split('/').slice(0, 3).join('/')));
    expect([...folders]).toEqual(['test/integration/tools']);
  });

  test.each(['unit', 'browser'])('has all files of %s', (suite) => {
    expect(filesLeftOut(suite)).toEqual([]);
  });
});

describe('the seed of a run', () => {
  const lateInTheDay = new Date('2026-03-09T23:59:59Z');

  test('is the date in UTC', () => {
    expect(seedOf({}, lateInTheDay)).toBe(20_260_309);
    expect(seedOf({ KEYFRAME_TEST_SEED: '' }, lateInTheDay)).toBe(20_260_309);
  });

  test('is that of KEYFRAME_TEST_SEED if it is set', () => {
    expect(seedOf({ KEYFRAME_TEST_SEED: '7' }, lateInTheDay)).toBe(7);
  });

  test.each(['x', '-1', '1.5', '1e3', '1234567890'])('cannot be %s', (text) => {
    expect(() => seedOf({ KEYFRAME_TEST_SEED: text })).toThrow('KEYFRAME_TEST_SEED must be a whole number');
  });
});
