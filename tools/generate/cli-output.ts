import { z } from 'zod';
import { commandShapes } from '../../src/cli/output/command-shapes.ts';
import { type ShapeName, shapes } from '../../src/cli/output/shapes.ts';
import { markdownTable } from './markdown-table.ts';

/** docs/cli-output: a JSON Schema for each shape that --output json prints, and a page that says which command prints which. */
export function cliOutput(): { readonly path: string; readonly content: string }[] {
  const names = Object.keys(shapes) as ShapeName[];
  const schemas = names.map((name) => ({ path: `docs/cli-output/${name}.json`, content: schemaText(name) }));
  return [{ path: 'docs/cli-output/README.md', content: page() }, ...schemas];
}

function schemaText(name: ShapeName): string {
  const schema = z.toJSONSchema(shapes[name], {
    // Without the names that the API's schemas have: each file is whole, without references.
    metadata: z.registry<{ id?: string }>(),
    // A newer server may add fields, which the command prints too.
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return JSON.stringify({ title: name, ...schema }, undefined, 2);
}

function page(): string {
  const rows = Object.entries(commandShapes)
    .filter(([, names]) => names.length > 0)
    .map(([command, names]) => [`\`${command}\``, names.map((name) => `[${name}](${name}.json)`).join(' or ')]);
  return `# What \`--output json\` prints

Generated from \`src/cli/output/\` by \`npm run generate\`. Do not edit.

Each command prints one JSON object on standard output. Its shape has a JSON Schema (draft 2020-12) in this folder. A later release may add fields, and removes or renames none within a major version. \`--output yaml\` prints the same object as YAML.

${markdownTable([['command', 'shape'], ...rows])}

- Commands that list things print the whole page of the API, with \`nextCursor\`.
- \`get\` prints the second shape with \`--version\` and the third for several keys, and \`versions\` with \`--version\`.
- \`watch\` prints one object per line, for each change. With \`--output yaml\` each change is a document.
- \`status\` prints the object in any state. \`problems\` then has the errors, and nothing is on standard error.
- \`list\` prints the second shape with \`--deleted\`.
- \`unchanged\` is a list of keys. A number of keys is called \`unchangedCount\`.
- At a terminal \`value\` is missing unless \`--reveal\` is given.
- \`run\`, \`completion\` and \`help\` print no object.

## Errors

With \`--output json\` an error is one line on standard error, with the shape [problem](problem.json). For an error of the server these are the fields of its [problem document](../errors.md). For an error of the command itself \`type\` begins with \`urn:keyframe:cli:\`, and \`status\` and \`instance\` are missing. Both have \`exitCode\`, and \`next\` with the steps that a user can take.

\`\`\`json
{
  "type": "urn:keyframe:cli:unreachable",
  "title": "server or network error",
  "code": "unreachable",
  "detail": "http://127.0.0.1:8700 cannot be reached: nothing listens there",
  "exitCode": 1,
  "next": ["Is the server running? Set another address with --url or KEYFRAME_URL"]
}
\`\`\`

If standard error is not a terminal, warnings are lines of the shape [warning](warning.json), and no other text is printed there. So each line of standard error is a JSON object.

## Names

\`--output name\` prints one line for each result, with the word by which other commands take it.

| result                                          | line                       |
| ----------------------------------------------- | -------------------------- |
| an organization, project or environment         | slug                       |
| a secret, or a change, comparison or restore    | each key                   |
| a version, or destroyed versions                | each number                |
| a revision                                      | id                         |
| a snapshot or token                             | id                         |
| a user or member                                | e-mail address             |
| the identity of a token                         | its e-mail address or name |
| a sign-in link                                  | the link                   |
| an entry of the audit log                       | id                         |
| a file of settings                              | path                       |
`;
}
