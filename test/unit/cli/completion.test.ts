import { expect, test } from '@jest/globals';
import { commandTable } from '../../../src/cli/command-table.ts';
import { completionOutput, completionsOf, type Sources } from '../../../src/cli/completion/candidates.ts';
import { type Target, targetOf } from '../../../src/cli/completion/line.ts';
import type { CompletionKind } from '../../../src/cli/core/options.ts';

/** The candidates for a value that the server knows, if it knows these words. */
async function offered(words: readonly string[], current = ''): Promise<string> {
  const member: CompletionKind = 'member';
  const candidates = words.map((word) => ({ word, description: 'a member' }));
  const sources = { member: () => Promise.resolve(candidates) } as unknown as Sources;
  const place = { words: [], entries: [], definition: undefined };
  const of = { form: '<user>', description: '', completes: member } as unknown as Extract<
    Target,
    { kind: 'value' }
  >['of'];
  const target: Target = { kind: 'value', place, current, given: { options: new Map(), args: [] }, of };
  return completionOutput(await completionsOf(target, { sections: [], sources }));
}

test('names of the server are offered, with descriptions', async () => {
  const words = ['ada@example.com', 'a.b+c@example.com', 'API_KEY', 'v1.2:3/x-y'];
  expect(await offered(words)).toBe(`${words.map((word) => `${word}\ta member`).join('\n')}\n:words\n`);
});

// Others choose these: an e-mail address may have nearly every character.
test.each([
  '$(reboot)@example.com',
  'a$(reboot)@example.com',
  'a`reboot`@example.com',
  'a;reboot@example.com',
  'a|reboot@example.com',
  'a&reboot@example.com',
  'a>file@example.com',
  "a'b@example.com",
  'a"b@example.com',
  'a*@example.com',
  'a?@example.com',
  'a{b,c}@example.com',
  'a!b@example.com',
  'a#b@example.com',
  'a\\b@example.com',
  '~root@example.com',
  '-flag',
  'two words',
  'two\nlines',
  'a\tb',
  '',
])('the word %j is not offered, because a shell would not take it as it is', async (word) => {
  expect(await offered([word, 'ada@example.com'])).toBe('ada@example.com\ta member\n:words\n');
});

test('a word that begins with a hyphen is no flag behind --', async () => {
  expect(await targetOf(['get', '-'], commandTable)).toMatchObject({ kind: 'flags' });
  expect(await targetOf(['get', '--', '-'], commandTable)).toMatchObject({ kind: 'value', current: '-' });
});
