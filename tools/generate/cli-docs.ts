import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { readEnvironment } from '../../src/cli/settings/environment.ts';
import { workingVersion } from '../checkout.ts';
import { createProgram, loadAll } from '../../src/cli/core/program.ts';

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

## Get the command

Every server gives out the \`keyframe\` command of its own release. It is one file and needs Node.js 20.16 or newer (of Node.js 22: 22.3 or newer), and nothing else:

\`\`\`sh
curl -fsSLo keyframe $KEYFRAME_URL/cli
curl -fsSL $KEYFRAME_URL/cli.sha256 | sha256sum --check
chmod +x keyframe
./keyframe --version
\`\`\`

\`KEYFRAME_URL\` is the address of the server, such as \`https://keyframe.example.com\`. Move the file into a folder of your \`PATH\`. macOS has \`shasum -a 256 --check\` in place of \`sha256sum --check\`. The checksum shows that the download is complete and unchanged on the way. It comes from the same server, so it proves nothing about the server itself: use https. During an upgrade two releases may answer. If the checksum fails then, download both files again.

Node.js 20 gets no security fixes any more. The command runs on it because distributions still have it. Use a release that [nodejs.org](https://nodejs.org/en/about/previous-releases) maintains if you can choose. The tests run the command on 20.16, 22 and 24. Before Node.js 22.15, a command that ends while the system still looks up a host name waits for the name servers.

Without Node.js, use [the image](image.md), which holds the command and its Node.js:

\`\`\`sh
docker run --rm --entrypoint keyframe --env KEYFRAME_URL --env KEYFRAME_TOKEN \\
  registry.example.com/keyframe:${workingVersion()} get DATABASE_URL -o acme -p shop -e production
\`\`\`

The image has no programs that \`keyframe run\` could start. A command that reads or writes files needs a volume: \`--volume "$PWD:/work" --workdir /work --user "$(id -u):$(id -g)"\`.

In a checkout, \`npm run -s keyframe -- …\` runs the command, and \`npm run build\` makes it as \`dist/keyframe.cjs\`.

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
