import { join } from 'node:path';
import { ensureBinaries } from '../../tools/devcluster/cluster/build.ts';
import type { Cluster } from '../../tools/devcluster/cluster/cluster.ts';
import type { CliRunner } from '../support/cli/cli.ts';
import { documentedCommands } from '../support/cli/documented-commands.ts';
import { readPage } from '../support/fixtures/documentation.ts';

export interface PageReaderDeps {
  /** Signed in; the commands run in its folder. */
  readonly cli: CliRunner;
  /** Of which the reader is the administrator. */
  readonly cluster: Pick<Cluster, 'kubeconfig' | 'runFolder'>;
}

const shell = `kubectl() { "$KUBECTL" --kubeconfig="$ADMIN_KUBECONFIG" "$@"; }
export -f kubectl
set -euo pipefail
`;

/** A user who follows a page of docs/ with a cluster and a server of a test, block by block as it stands there. */
export class PageReader {
  readonly #deps: PageReaderDeps;
  readonly #kubectl: string;
  /** Heading and number → command. */
  readonly #blocks: ReadonlyMap<string, string>;
  readonly #tried = new Set<string>();

  private constructor(deps: PageReaderDeps, kubectl: string, page: string) {
    this.#deps = deps;
    this.#kubectl = kubectl;
    const sections = readPage(page).split(/^#+ (?=.*$)/m);
    this.#blocks = new Map(
      sections.flatMap((section) => {
        const [heading = ''] = section.split('\n', 1);
        return documentedCommands(section).map(({ command }, index) => [`${heading}, ${index + 1}`, command] as const);
      }),
    );
  }

  /** `page` is its path in the checkout. */
  static async open(page: string, deps: PageReaderDeps): Promise<PageReader> {
    const { kubectl } = await ensureBinaries(['kubectl'], { env: process.env, output: process.stderr });
    return new PageReader(deps, kubectl, page);
  }

  /** The blocks that were not run so far, as `heading, number`. */
  get untried(): string[] {
    return [...this.#blocks.keys()].filter((name) => !this.#tried.has(name));
  }

  /** Runs the nth block of commands under a heading, counted from 1; answers what it printed. Throws where it fails. */
  async step(heading: string, number = 1): Promise<string> {
    const name = `${heading}, ${number}`;
    const command = this.#blocks.get(name);
    if (command === undefined) throw new Error(`The page has no commands «${name}».`);
    this.#tried.add(name);
    return await this.run(command);
  }

  /** Runs a command of the test's own in the same way. */
  async run(command: string): Promise<string> {
    const { cli, cluster } = this.#deps;
    const env = {
      KUBECTL: this.#kubectl,
      ADMIN_KUBECONFIG: cluster.kubeconfig,
      KUBECACHEDIR: join(cluster.runFolder, 'kubectl-cache'),
    };
    const { code, stdout, stderr } = await cli.bash(shell + command, { env, limitMs: 80_000 });
    if (code !== 0) throw new Error(`${command}\nended with ${code}: ${stderr}\n${stdout}`);
    return stdout;
  }
}
