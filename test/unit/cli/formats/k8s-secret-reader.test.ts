import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { writeK8sSecret } from '../../../../src/cli/formats/k8s-secret.ts';
import { parseK8sSecret } from '../../../../src/cli/formats/k8s-secret-reader.ts';
import { secretKeys, secretTables } from './arbitraries.ts';

const manifest = (fields: object): string => JSON.stringify({ apiVersion: 'v1', kind: 'Secret', ...fields });

describe('the manifest of a Kubernetes Secret', () => {
  test('gives back any secrets that were written', async () => {
    await fc.assert(
      fc.asyncProperty(secretTables, async (secrets) => {
        const written = writeK8sSecret(secrets, { name: 'app', namespace: undefined });
        expect(await parseK8sSecret(written)).toEqual({ secrets, base64Keys: [] });
      }),
    );
  });

  test('keeps all bytes: as text if they are UTF-8, else as base64', async () => {
    await fc.assert(
      fc.asyncProperty(secretKeys, fc.uint8Array({ maxLength: 64 }), async (key, bytes) => {
        const encoded = Buffer.from(bytes).toString('base64');
        const { secrets, base64Keys } = await parseK8sSecret(manifest({ data: { [key]: encoded } }));
        const value = secrets.get(key) ?? '';
        expect(Buffer.from(value, base64Keys.length === 1 ? 'base64' : 'utf8')).toEqual(Buffer.from(bytes));
      }),
    );
    const { secrets, base64Keys } = await parseK8sSecret(
      manifest({ data: { TEXT: 'Z3LDvMOf', MARKED: '77u/YQ==', STORE: '/u3+7QA=' } }),
    );
    expect([[...secrets], base64Keys]).toEqual([
      [
        ['TEXT', 'grüß'],
        // The byte order mark belongs to the value.
        ['MARKED', '\uFEFFa'],
        ['STORE', '/u3+7QA='],
      ],
      ['STORE'],
    ]);
  });

  test('has the fields of the API server, line breaks in base64, and stringData over data', async () => {
    const text = `apiVersion: v1
kind: Secret
metadata: { name: app, uid: 1, managedFields: [] }
type: kubernetes.io/tls
immutable: true
data:
  A: b2xk
  B: |
    aGVs
    bG8=
stringData:
  A: new
`;
    expect([...(await parseK8sSecret(text)).secrets]).toEqual([
      ['B', 'hello'],
      ['A', 'new'],
    ]);
    expect((await parseK8sSecret(manifest({ data: null }))).secrets.size).toBe(0);
  });

  test.each([
    ['a mark at its end', 'TEXT\n---\n'],
    ['marks and comments around it', '# by hand\n---\n# Source: chart\n---\nTEXT\n...\n---\n# end\n'],
  ])('is read with %s', async (_name, frame) => {
    const text = frame.replace('TEXT', manifest({ stringData: { A: 'x' } }));
    expect([...(await parseK8sSecret(text)).secrets]).toEqual([['A', 'x']]);
  });

  test.each([
    ['a list', '{"apiVersion":"v1","kind":"List","items":[]}', 'holds a list; export one Secret, by its name'],
    ['another kind', '{"apiVersion":"v1","kind":"ConfigMap"}', 'must be the manifest of a Kubernetes Secret'],
    ['another group', '{"apiVersion":"x/v1","kind":"Secret"}', 'must be the manifest of a Kubernetes Secret'],
    ['a text', 'hunter2', 'must be the manifest of a Kubernetes Secret'],
    ['nothing', '', 'must be the manifest of a Kubernetes Secret'],
    [
      'two documents',
      'kind: Secret\n---\nkind: Secret\n',
      'line 2: a second document begins; give the manifest of one',
    ],
    ['broken YAML', 'kind: [Secret\nA: b: hunter2', 'is not valid YAML or JSON'],
    ['data that is no mapping', manifest({ data: 'hunter2' }), 'data must be a mapping'],
    ['a value that is not base64', manifest({ data: { A: 'hunter2!' } }), 'line 1: the value of A is not base64'],
    ['base64 without padding', manifest({ data: { A: 'aGVsbG8' } }), 'line 1: the value of A is not base64'],
    ['a number', manifest({ stringData: { A: 1 } }), 'line 1: the value of A is not a string'],
    [
      'a key that occurs twice',
      'apiVersion: v1\nkind: Secret\ndata:\n  A: aA==\n  A: aA==\n',
      'A stands on line 4 and again on line 5',
    ],
  ])('is refused if it is %s, without a part of a value', async (_name, text, message) => {
    const refused = parseK8sSecret(text);
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.not.toThrow('hunter2');
  });
});
