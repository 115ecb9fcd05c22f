import type { SecretView } from '../../../wire/secrets.ts';
import type { VersionWithValueView } from '../../../wire/versions.ts';
import { apiPath } from '../../../client/api-client.ts';
import { usageError } from '../../cli-error.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import { completing, argument, revealOption, scopeOptions, text, versionNumber } from '../../options.ts';
import { pastSecret } from './secrets-api.ts';
import { terminalText } from '../../terminal/terminal-text.ts';
import { time } from '../../terminal/time.ts';

export const getCommand = defineCommand({
  summary: 'Print the value of one secret',
  description:
    'In a pipe or file, the output is exactly the value. On a terminal the value is hidden unless you add --reveal.',
  arguments: { key: completing('key', argument('<key>', 'Key of the secret')) },
  options: {
    ...scopeOptions,
    version: versionNumber('Value of this version; also works for a deleted secret'),
    revision: text('--revision <revision>', 'Value at this revision (number or id)'),
    ...revealOption,
  },
  examples: [
    { line: 'get API_KEY --reveal', note: 'Show a value' },
    { line: 'get TLS_KEY > tls.key', note: 'Write the exact value to a file' },
    { line: 'get API_KEY --version 3 --output json', note: 'An earlier version with its metadata' },
  ],
  async run(context, { args: { key }, options }) {
    const { organization, project, environment } = context.scope(options);
    const { version, revision } = options;
    if (version === undefined) {
      const path = apiPath`/secrets/${organization}/${project}/${environment}/${key}`;
      const secret = await context.api().get<SecretView>(path, { query: { revision } });
      return await print(context, secret, options);
    }
    if (revision !== undefined) throw usageError('--version and --revision cannot be combined');
    const path = apiPath`/versions/${organization}/${project}/${environment}/${key}/${version}`;
    const found = await context.api().get<VersionWithValueView>(path);
    await print(context, pastSecret(key, found), options);
  },
});

async function print(context: CommandContext, found: SecretView, flags: { readonly reveal: boolean }): Promise<void> {
  const { io, printer } = context;
  const isShown = context.showsValues(flags);
  if (printer.format === 'table' && isShown) {
    io.write(io.isOutputTerminal ? `${terminalText(found.value)}\n` : found.value);
    return;
  }
  const { value: _value, ...withoutValue } = found;
  await printer.object({
    value: isShown ? found : withoutValue,
    name: found.key,
    fields: [
      ['Key', found.key],
      ['Version', found.version],
      ['Changed', time(found.updatedAt)],
    ],
  });
  if (!isShown && printer.format !== 'name') io.note('The value is hidden on a terminal. To see it, add --reveal');
}
