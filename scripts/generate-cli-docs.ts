import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { readEnvironment } from '../src/cli/environment.ts';
import { createProgram, loadAll } from '../src/cli/program.ts';

/** The page docs/cli.md: the help of the command and of each of its commands, as a terminal shows it. */
export async function cliDocs(): Promise<string> {
  const program = createProgram({
    environment: readEnvironment({}, '/'),
    streams: { stdin: process.stdin, stdout: silence(), stderr: silence() },
    endWith: () => undefined,
  });
  await loadAll(program);
  const pages = [program, ...program.commands.flatMap((command) => [command, ...command.commands])];
  return `# The \`keyframe\` command

Generated from \`src/cli\` by \`npm run generate\`. Do not edit.

In a checkout it is \`npm run -s keyframe -- …\`; \`npm run build\` makes \`dist/keyframe.cjs\`, one file that runs wherever Node is.

${pages.map(section).join('\n')}`;
}

function section(command: Command): string {
  const names: string[] = [];
  for (let at: Command | null = command; at !== null; at = at.parent) names.unshift(at.name());
  return `## ${names.join(' ')}\n\n\`\`\`\n${helpOf(command)}\n\`\`\`\n`;
}

/** The help with what stands below it, at the width of an ordinary terminal. */
function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => void (text += part),
    getOutHelpWidth: () => 80,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  return text.trim();
}

/** A stream that takes everything and keeps nothing. */
export function silence(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}
