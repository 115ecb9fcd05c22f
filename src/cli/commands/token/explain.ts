import { call } from '../../../client/call.ts';
import type { JwtExplanationView } from '../../../wire/federation.ts';
import { usageError } from '../../core/cli-error.ts';
import { defineCommand } from '../../core/command.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { completing, organizationOption, text } from '../../core/options.ts';
import { decoded, readBytes, shownFile } from '../secret/secret-file.ts';
import { findServiceToken, serviceTokenArgument } from './find-token.ts';

const words = { passed: 'passed', failed: 'FAILED', not_checked: 'not checked' } as const;

/** `token explain <id>`: docs/interface.md 4.8. */
export const tokenExplainCommand = defineCommand({
  summary: 'Explain why a JWT proves a federated service token, or does not',
  description:
    'A request with a JWT that is refused says no reason. This command sends the JWT to the server for an explanation only: it lists the checks in their order, and what to do about the one that failed. The server does not store the JWT. The exit code is that of a request with it: 0 if it proves the token, and otherwise 3. Requires the role admin or owner in the organization.',
  arguments: { given: serviceTokenArgument },
  options: {
    ...organizationOption,
    file: completing('file', text('--jwt-file <file>', 'File with the JWT; - reads standard input, also the default')),
  },
  examples: [
    { line: 'token explain deploy -o acme --jwt-file jwt.txt', note: 'With a JWT in a file' },
    { line: 'token explain deploy -o acme < jwt.txt', note: 'With a JWT from standard input' },
  ],
  async run(context, { args: { given }, options }) {
    const organization = await context.organization(options);
    const { file = '-' } = options;
    const bytes = file === '-' ? await context.io.readInput() : readBytes(file, shownFile(file));
    const jwt = decoded(bytes).trim();
    if (jwt === '')
      throw usageError('there is no JWT to explain', 'Name its file with --jwt-file, or give it on standard input');
    const { id } = await findServiceToken(
      context,
      { organization, project: undefined },
      { given, isRevoked: false, orRevoked: true },
    );
    const params = { org: organization, id };
    const { body } = await call(context.api(), 'POST /service-tokens/{org}/{id}/explain', { params, body: { jwt } });
    await context.printer.list<JwtExplanationView['checks'][number]>({
      value: body,
      rows: body.checks,
      columns: [
        { title: 'CHECK', cell: ({ check }) => check },
        { title: 'RESULT', cell: ({ outcome }) => words[outcome] },
        { title: 'WHAT TO DO', cell: ({ detail }) => detail },
      ],
      name: ({ check }) => check,
      named: body.checks.filter(({ outcome }) => outcome === 'failed'),
      whenEmpty: 'The server made no checks.',
    });
    if (!body.isProven) context.endWith(exitCodes.unauthenticated);
  },
});
