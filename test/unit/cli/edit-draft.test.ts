import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { draftFormats, environmentForm, valueForm } from '../../../src/cli/commands/secret/edit-draft/draft-form.ts';
import { rebaseDraft } from '../../../src/cli/commands/secret/edit-draft/rebase.ts';
import { secretKeys, secretTables } from './formats/arbitraries.ts';

const tables = fc.dictionary(secretKeys, fc.constantFrom('a', 'b', 'c')).map((keys) => new Map(Object.entries(keys)));

describe('a draft that is applied to a newer state', () => {
  test('is the same state if nothing has changed', () => {
    fc.assert(
      fc.property(tables, tables, (before, draft) => {
        const { secrets, conflicts } = rebaseDraft({ before, draft, now: before });
        expect([secrets, conflicts]).toEqual([draft, []]);
      }),
    );
  });

  test('keeps each change of the draft and each change of others, and names those of both', () => {
    fc.assert(
      fc.property(tables, tables, tables, (before, draft, now) => {
        const { secrets, conflicts } = rebaseDraft({ before, draft, now });
        for (const key of new Set([...before.keys(), ...draft.keys(), ...now.keys()])) {
          const [was, own, others] = [before.get(key), draft.get(key), now.get(key)];
          expect(secrets.get(key)).toBe(own === was ? others : own);
          expect(secrets.has(key)).toBe(secrets.get(key) !== undefined);
          expect(conflicts.includes(key)).toBe(own !== was && others !== was && own !== others);
        }
      }),
    );
  });

  test('changes nothing more when it is applied again', () => {
    fc.assert(
      fc.property(tables, tables, tables, (before, draft, now) => {
        const { secrets } = rebaseDraft({ before, draft, now });
        // What a crash between the two writes of a draft leaves: the new text on the old base.
        expect(rebaseDraft({ before, draft: secrets, now })).toEqual({ secrets, conflicts: expect.any(Array) });
      }),
    );
  });
});

describe('the text of a draft', () => {
  const place = { place: 'acme/shop/production', environment: 'production' };

  test.each(draftFormats)('as %s is read back exactly, with any message at its top', async (format) => {
    await fc.assert(
      fc.asyncProperty(secretTables, fc.string(), async (before, message) => {
        const form = environmentForm({ ...place, format, before });
        const text = await form.write(before, message);
        const marked = form.withMessage?.(text, 'error: line 1\nX=1') ?? '';
        for (const one of [text, marked, `\uFEFF${text}`]) {
          const read = await form.read(one);
          expect(read?.secrets ?? new Map()).toEqual(before);
        }
        // The number of lines never changes, so that the lines in messages stay right.
        expect(marked.split('\n')).toHaveLength(text.split('\n').length);
        expect(form.withMessage?.(marked, message)).toBe(text);
      }),
    );
  });

  test('of one secret ignores one line end that an editor has added', async () => {
    const read = async (value: string, text: string): Promise<string | undefined> => {
      const before = new Map([['KEY', value]]);
      const form = valueForm({ key: 'KEY', before, hasLineEnd: value.endsWith('\n') });
      return (await form.read(text))?.secrets.get('KEY');
    };
    expect(await read('a', 'b\n')).toBe('b');
    expect(await read('a', 'b\r\n')).toBe('b');
    expect(await read('a', 'b\n\n')).toBe('b\n');
    expect(await read('a\n', 'b\n')).toBe('b\n');
    expect(await read('a\n', 'b')).toBe('b');
    expect(await read('', '\n')).toBe('');
    expect(await read('a', '\n')).toBeUndefined();
    await expect(read('a', 'x'.repeat(256 * 1024 + 1))).rejects.toThrow('the value of KEY must be at most');
  });
});
