import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBinaries } from '../../tools/devcluster/cluster/build.ts';
import type { Cluster } from '../../tools/devcluster/cluster/cluster.ts';
import type { CliRunner } from '../support/cli/cli.ts';
import type { CommandEnd } from '../support/cli/running-command.ts';

// A reader looks whether the forward stands before they go on.
const untilForwarded = (port: number): string =>
  `until (exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null; do kill -0 %1; sleep 0.1; done`;

export interface NotesReaderOptions {
  readonly cli: CliRunner;
  /** Of which the reader is the administrator. */
  readonly cluster: Pick<Cluster, 'kubeconfig' | 'runFolder'>;
  /** Of this machine, in the place of 8700, which another process may have. */
  readonly port: number;
}

/** Runs the commands of NOTES.txt as they were printed, one after the other in one shell that ends at the first that fails. */
export async function followNotes(notes: string, { cli, cluster, port }: NotesReaderOptions): Promise<CommandEnd> {
  const tools = join(cli.folder, 'tools');
  mkdirSync(tools);
  const programs = await ensureBinaries(['kubectl', 'helm'], { env: process.env, output: process.stderr });
  for (const [name, program] of Object.entries(programs)) symlinkSync(program, join(tools, name));
  const commands = commandsIn(notes).map((command) => command.replace(/\b8700\b/, String(port)));
  const script = commands.flatMap((command) => (command.endsWith('&') ? [command, untilForwarded(port)] : [command]));
  const head = `set -euo pipefail; PATH=${tools}:$PATH; trap 'kill $(jobs -p)' EXIT`;
  return await cli.bash([head, ...script].join('\n'), {
    env: { KUBECONFIG: cluster.kubeconfig, KUBECACHEDIR: join(cluster.runFolder, 'kubectl-cache') },
    limitMs: 150_000,
  });
}

/** The indented lines below «Next:», and what the sentence about helm's test names. */
export function commandsIn(notes: string): string[] {
  const next = notes.slice(notes.indexOf('\nNext:\n'));
  return Array.from(next.matchAll(/^ {2}(?<line>\S.*)$|: (?<test>helm test .*)$/gm), ({ groups = {} }) =>
    String(groups['line'] ?? groups['test']),
  );
}
