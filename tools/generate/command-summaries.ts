import type { CommandEntry } from '../../src/cli/core/command-section.ts';
import { commandTable } from '../../src/cli/command-table.ts';

/** src/cli/generated/summaries.ts: the summary of every command, under the words of the command. */
export async function commandSummaries(): Promise<string> {
  const commands = commandTable.flatMap(({ entries }) =>
    entries.flatMap((entry): [string, CommandEntry][] =>
      'commands' in entry
        ? entry.commands.map((child) => [`${entry.name} ${child.name}`, child])
        : [[entry.name, entry]],
    ),
  );
  const lines = await Promise.all(
    commands.map(async ([words, entry]) => `${JSON.stringify(words)}: ${JSON.stringify((await entry.load()).summary)}`),
  );
  return `// Generated from src/cli/commands by \`npm run generate\`. Do not edit.

/** The summary of every command, for lists of commands: their modules need not be loaded for it. */
export const summaries: Readonly<Record<string, string>> = {${lines.join(',')}};
`;
}
