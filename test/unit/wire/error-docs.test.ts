import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { errorDocs, errorDocsFile } from '../../../scripts/generate-error-docs.ts';

test('docs/errors.md tells what the error catalogue holds', () => {
  expect(readFileSync(errorDocsFile, 'utf8')).toBe(errorDocs());
});
