import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { ensureBinaries } from '../../../tools/devcluster/cluster/build.ts';
import { fencedBlocks, readPage } from '../fixtures/documentation.ts';

/** What Argo CD says of a resource. */
export interface Health {
  readonly status: string;
  readonly message: string;
}

/** What docs/gitops.md has put into Argo CD's settings: pattern of the kinds → name of a script → script. */
export function documentedCustomizations(): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const [settings] = fencedBlocks(readPage('docs/gitops.md'), 'yaml').filter(({ text }) =>
    text.includes('name: argocd-cm'),
  );
  const { data } = parse(settings?.text ?? '') as { data: Record<string, string> };
  return parse(data['resource.customizations'] ?? '') as Record<string, Record<string, string>>;
}

/** The health check of docs/gitops.md for our kinds, run by the Lua that Argo CD has built in. */
export class ArgoHealth {
  readonly #folder: string;
  readonly #glua: string;
  readonly #check: string;

  private constructor(folder: string, glua: string, check: string) {
    this.#folder = folder;
    this.#glua = glua;
    this.#check = check;
  }

  /** Reads the page and gets the interpreter. */
  static async open(resources: AsyncDisposableStack): Promise<ArgoHealth> {
    const { glua } = await ensureBinaries(['glua'], { env: process.env, output: process.stderr });
    const folder = await mkdtemp(join(tmpdir(), 'keyframe-lua-'));
    resources.defer(() => rm(folder, { recursive: true }));
    return new ArgoHealth(folder, glua, documentedCustomizations()['keyframe.dev/*']?.['health.lua'] ?? '');
  }

  /** What Argo CD would say of the object. Throws where the check fails. */
  async of(object: object): Promise<Health> {
    const script = `obj = ${luaLiteral(object)}
local function check()
${this.#check}
end
local hs = check()
print(hs.status)
print(hs.message)`;
    const file = join(this.#folder, 'check.lua');
    await writeFile(file, script);
    const { stdout, stderr } = await promisify(execFile)(this.#glua, [file]);
    if (stderr !== '') throw new Error(`the health check: ${stderr}`);
    const [status = '', ...message] = stdout.trimEnd().split('\n');
    return { status, message: message.join('\n') };
  }
}

/** A value of JSON as Lua writes it. */
function luaLiteral(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(luaLiteral).join(', ')}}`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'nil';
  const fields = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return `{${fields.map(([name, inner]) => `[${JSON.stringify(name)}] = ${luaLiteral(inner)}`).join(', ')}}`;
}
