import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'yaml';
import { FormatError } from '../../../../src/wire/formats/format-error.ts';
import { writeK8sSecret } from '../../../../src/cli/formats/k8s-secret.ts';
import { writeShell } from '../../../../src/cli/formats/shell.ts';
import { secretTables } from './arbitraries.ts';

const table = (entries: Record<string, string>): Map<string, string> => new Map(Object.entries(entries));

describe('shell', () => {
  test('each value stands in single quotes, which come out of them for themselves alone', () => {
    expect(writeShell(table({ A: 'x', B: 'it\'s $HOME `id` \\ "!"\n' }))).toBe(
      "export A='x'\nexport B='it'\\''s $HOME `id` \\ \"!\"\n'\n",
    );
    expect(writeShell(new Map())).toBe('');
  });

  test.each(['a.b', '-x', '1A', 'a-b'])('%s, which is no name of a variable, is refused by its name', (key) => {
    expect(() => writeShell(table({ A: 'hunter2', [key]: 'hunter2' }))).toThrow(`no variable called ${key};`);
  });

  test('a NUL is refused with the names of the keys', () => {
    expect(() => writeShell(table({ A: 'x\0' }))).toThrow(FormatError);
    expect(() => writeShell(table({ A: 'x', B: 'hunter\0', C: '\0' }))).toThrow(
      new FormatError('a shell cannot hold the NUL character in B, C; use another format'),
    );
  });
});

describe('k8s-secret', () => {
  test('the manifest of any secrets holds their very bytes, to readers of YAML 1.2 and 1.1', () => {
    fc.assert(
      fc.property(secretTables, fc.constantFrom('1.1', '1.2'), (secrets, version) => {
        const manifest: unknown = parse(writeK8sSecret(secrets, { name: 'app', namespace: 'web' }), { version });
        expect(manifest).toEqual({
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'app', namespace: 'web' },
          type: 'Opaque',
          data: Object.fromEntries([...secrets].map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
        });
      }),
      { numRuns: 1500 },
    );
  });

  test('without a namespace none is written', () => {
    expect(writeK8sSecret(table({ A: 'hi' }), { name: '1.app', namespace: undefined })).toBe(
      'apiVersion: v1\nkind: Secret\nmetadata:\n  name: "1.app"\ntype: Opaque\ndata:\n  A: "aGk="\n',
    );
  });

  test.each(['', 'App', 'a_b', '-a', 'a-', 'a..b', 'a\nb', 'x'.repeat(254)])('%j is no name of a Secret', (name) => {
    expect(() => writeK8sSecret(table({}), { name, namespace: undefined })).toThrow("a Secret's name must be of");
  });

  test.each(['', 'A', 'a.b', 'x'.repeat(64)])('%j is no namespace', (namespace) => {
    expect(() => writeK8sSecret(table({}), { name: 'a', namespace })).toThrow('a namespace must be of 1 to 63');
  });

  test('1 MiB of values fits and a byte more does not', () => {
    const quarter = 'x'.repeat(256 * 1024);
    const full = table({ A: quarter, B: quarter, C: quarter, D: quarter });
    expect(writeK8sSecret(full, { name: 'a', namespace: undefined })).toContain('\n  D: "');
    expect(() => writeK8sSecret(full.set('E', 'x'), { name: 'a', namespace: undefined })).toThrow(
      'the values come to 1048577 bytes, and a Kubernetes Secret holds at most 1048576',
    );
  });
});
