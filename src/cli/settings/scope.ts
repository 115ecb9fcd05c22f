import { usageError } from '../core/cli-error.ts';
import type { FolderFile } from './folder-file.ts';

/** The slugs that name an environment. */
export interface Scope {
  readonly organization: string;
  readonly project: string;
  readonly environment: string;
}

/** The names of an environment in the path of an endpoint. */
export function scopeParams({ organization, project, environment }: Scope): {
  readonly org: string;
  readonly project: string;
  readonly env: string;
} {
  return { org: organization, project, env: environment };
}

export interface OrganizationFlags {
  readonly organization: string | undefined;
}
export interface ProjectFlags extends OrganizationFlags {
  readonly project: string | undefined;
}
export interface ScopeFlags extends ProjectFlags {
  readonly environment: string | undefined;
}

const names = ['organization', 'project', 'environment'] as const;
const flagOf = { organization: '-o <organization>', project: '-p <project>', environment: '-e <environment>' };

export type ScopeName = (typeof names)[number];

/**
 * The slugs down to `deepest`: each from its flag, else from the folder's file. The file's slug of a level is used only if
 * all levels above are the file's too: the same slug is a different project in another organization.
 *
 * @throws CliError usage, naming the flags that are missing.
 */
export function resolveScope(flags: Partial<ScopeFlags>, folder: FolderFile | undefined, deepest: ScopeName): Scope {
  const found = findScope(flags, folder);
  const missing = names.slice(0, names.indexOf(deepest) + 1).filter((name) => found[name] === undefined);
  if (missing.length > 0) throw missingScope(missing, folder);
  return { organization: '', project: '', environment: '', ...found };
}

/** As `resolveScope`, with the folder file of a configuration, which is not read if the flags name everything. */
export function scopeFrom(
  flags: Partial<ScopeFlags>,
  configuration: { readonly folder: FolderFile | undefined },
  deepest: ScopeName,
): Scope {
  return resolveScope(flags, isWhole(flags, deepest) ? undefined : configuration.folder, deepest);
}

/** Whether flags name everything down to `deepest`. */
export function isWhole(flags: Partial<ScopeFlags>, deepest: ScopeName): boolean {
  return names.slice(0, names.indexOf(deepest) + 1).every((name) => flags[name] !== undefined);
}

/** As `resolveScope`, as far as flags and file go. */
export function findScope(flags: Partial<ScopeFlags>, folder: FolderFile | undefined): Partial<Scope> {
  const found: Partial<Record<ScopeName, string>> = {};
  let isFoldersOwn = true;
  for (const name of names) {
    const own: string | undefined = isFoldersOwn ? folder?.[name] : undefined;
    const slug: string | undefined = flags[name] ?? own;
    if (slug !== undefined) found[name] = slug;
    isFoldersOwn &&= slug !== undefined && slug === folder?.[name];
  }
  return found;
}

function missingScope(missing: readonly ScopeName[], folder: FolderFile | undefined): Error {
  const flags = missing.map((name) => flagOf[name]).join(' ');
  const [verb, it] = missing.length === 1 ? ['is', 'it'] : ['are', 'them'];
  return usageError(
    `the ${shownList(missing)} ${verb} missing: ${reasonOf(missing, folder, it)}`,
    `Add ${flags}, or set ${it} for this directory: keyframe init -o <organization> -p <project> -e <environment>`,
  );
}

/** `organization, project and environment` */
function shownList(words: readonly string[]): string {
  return [words.slice(0, -1).join(', '), ...words.slice(-1)].filter((part) => part !== '').join(' and ');
}

/** Why the folder file does not name what no flag names. */
function reasonOf(missing: readonly ScopeName[], folder: FolderFile | undefined, it = 'it'): string {
  if (folder === undefined) return 'there is no .keyframe.json in this directory or above';
  const unused = missing.filter((name) => folder[name] !== undefined);
  const named = names.flatMap((name) => folder[name] ?? []).join('/');
  return unused.length === 0 ? `${folder.path} does not name ${it}` : `${folder.path} is for ${named} only`;
}

/** A place as users write it: `acme`, `acme/shop` or `acme/shop/production`. */
export function placeText({
  organization,
  project,
  environment,
}: {
  readonly organization: string;
  readonly project: string | null;
  readonly environment: string | null;
}): string {
  return [organization, project, environment].filter((slug) => slug !== null).join('/');
}
