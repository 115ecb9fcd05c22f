import { defineCommand } from '../../core/command.ts';
import { version } from '../../core/version.ts';

/** `version`. */
export const versionCommand = defineCommand({
  summary: 'Print the version of this command',
  description: 'Same as --version.',
  examples: [{ line: 'version', note: 'The version of this command, not of the server' }],
  async run({ io, printer }) {
    if (printer.format === 'table') return io.write(`${version}\n`);
    await printer.object({ value: { version }, fields: [], name: version });
  },
});
