import { writeFileSync } from 'node:fs';
import { errorCatalogue } from '../../src/domain/errors/catalogue.ts';
import type { ErrorEffect } from '../../src/domain/errors/description.ts';
import { markdownTable } from './markdown-table.ts';

/** File and text of the page of errors: src/domain/errors/ as a table. A test compares the two. */
export const errorDocsFile = new URL('../../docs/errors.md', import.meta.url);

const effects: Readonly<Record<ErrorEffect, string>> = {
  stall: 'is Stalled until the resource changes',
  block: 'is Stalled until someone fixes the cause',
  wait: 'waits for an event; Stalled after 30 s',
  retry: 'retries with exponential backoff; Stalled after 5 minutes',
};

/** The page docs/errors.md. */
export function errorDocs(): string {
  const rows = Object.entries(errorCatalogue).map(([code, { status, title, reason, effect }]) => [
    `\`${code}\``,
    String(status ?? '–'),
    title,
    `\`${reason}\``,
    effects[effect],
  ]);
  const head = ['code', 'HTTP status', 'title', 'condition reason', 'the controller'];
  return `# Errors

Generated from \`src/domain/errors/\` by \`node tools/generate/error-docs.ts\`. Do not edit.

Over HTTP every error is a problem document (RFC 9457, \`application/problem+json\`):

\`\`\`json
{
  "type": "urn:keyframe:error:invalid_input",
  "title": "Invalid input",
  "status": 422,
  "detail": "set.API_KEY: must be a string",
  "instance": "urn:uuid:5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e",
  "code": "invalid_input",
  "errors": [{ "field": "set.API_KEY", "message": "must be a string" }]
}
\`\`\`

Programs must use \`code\`; \`detail\` is for people and may change. \`instance\` is the id of the request, which is also in the
header \`X-Request-Id\` and in the server's log. \`errors\` lists invalid fields, at most 20. No error repeats a value
of the request. 401 comes with \`WWW-Authenticate\`, 405 with \`Allow\`, 429 and 503 with \`Retry-After\`.

On a custom resource, the same error sets the reason of the condition Ready=False. The last column says when Stalled becomes true. A
Stalled resource recovers without help as soon as the cause is gone.

${markdownTable([head, ...rows])}
`;
}

if (import.meta.main) writeFileSync(errorDocsFile, errorDocs());
