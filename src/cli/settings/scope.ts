import type { MeView } from '../../wire/me.ts';
import { usageError } from '../core/cli-error.ts';
import { formatHint } from '../core/option-synonyms.ts';
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
const longFlagOf = { organization: '--org', project: '--project', environment: '--env' };
const scopeVariableOf = {
  organization: 'KEYFRAME_ORG',
  project: 'KEYFRAME_PROJECT',
  environment: 'KEYFRAME_ENV',
} as const;

export type ScopeName = (typeof names)[number];

type Slugs = Partial<ScopeFlags>;

/** What names slugs besides flags. Those that cost a file or a request are asked only for what is still missing. */
export interface ScopeSources {
  readonly variables: Slugs;
  readonly folder: () => FolderFile | undefined;
  /** The place that the scope of a service token names; undefined for other tokens, and without one. */
  readonly token: () => Promise<Slugs | undefined>;
}

/** A slug with the setting that names it, as users write it. */
export interface FoundSlug {
  readonly slug: string;
  readonly source: string;
}

export type FoundScope = { readonly [Name in ScopeName]?: FoundSlug };

interface Source {
  readonly slugs: Slugs;
  readonly sourceOf: (name: ScopeName) => string;
  /** Its slug counts only below slugs that it names itself. Users write flags and variables for all that is above. */
  readonly isWhole: boolean;
}

/** As `findScope`. Throws CliError usage, naming what is missing. */
export async function resolveScope(flags: Slugs, sources: ScopeSources, deepest: ScopeName): Promise<Scope> {
  const { found, folder, token } = await searchScope(flags, sources, deepest);
  const missing = names.slice(0, names.indexOf(deepest) + 1).filter((name) => found[name] === undefined);
  if (missing.length > 0) throw missingScope(missing, { flags, variables: sources.variables, folder, token });
  const slug = (name: ScopeName): string => found[name]?.slug ?? '';
  return { organization: slug('organization'), project: slug('project'), environment: slug('environment') };
}

/**
 * The slugs down to `deepest`, as far as they are named: each by its flag, else by its variable, the folder's file or the
 * scope of the token. A slug counts only below slugs that its source does not contradict: the same slug is a different
 * project in another organization.
 */
export async function findScope(flags: Slugs, sources: ScopeSources, deepest: ScopeName): Promise<FoundScope> {
  return (await searchScope(flags, sources, deepest)).found;
}

/** Whether flags and variables name everything down to `deepest`, so that no file and no token does. */
export function isNamed(flags: Slugs, { variables }: Pick<ScopeSources, 'variables'>, deepest: ScopeName): boolean {
  return isComplete(combined(written(flags, variables)), deepest);
}

async function searchScope(
  flags: Slugs,
  sources: ScopeSources,
  deepest: ScopeName,
): Promise<{ found: FoundScope; folder?: FolderFile | undefined; token?: Slugs | undefined }> {
  const list = written(flags, sources.variables);
  let found = combined(list);
  if (isComplete(found, deepest)) return { found };
  const folder = sources.folder();
  if (folder !== undefined) list.push({ slugs: folder, sourceOf: () => '.keyframe.json', isWhole: true });
  found = combined(list);
  if (isComplete(found, deepest)) return { found, folder };
  const token = await sources.token();
  if (token !== undefined) list.push({ slugs: token, sourceOf: () => 'token', isWhole: true });
  return { found: combined(list), folder, token };
}

function written(flags: Slugs, variables: Slugs): Source[] {
  return [
    { slugs: flags, sourceOf: (name) => longFlagOf[name], isWhole: false },
    { slugs: variables, sourceOf: (name) => scopeVariableOf[name], isWhole: false },
  ];
}

function isComplete(found: FoundScope, deepest: ScopeName): boolean {
  return names.slice(0, names.indexOf(deepest) + 1).every((name) => found[name] !== undefined);
}

function combined(sources: readonly Source[]): FoundScope {
  const found: { [Name in ScopeName]?: FoundSlug } = {};
  let usable = sources;
  for (const name of names) {
    const source = usable.find(({ slugs }) => slugs[name] !== undefined);
    const slug = source?.slugs[name];
    if (source !== undefined && slug !== undefined) found[name] = { slug, source: source.sourceOf(name) };
    usable = usable.filter(({ slugs, isWhole }) => {
      const own = slugs[name];
      return own === undefined ? !isWhole : own === slug;
    });
  }
  return found;
}

interface UnusedSources {
  readonly flags: Slugs;
  readonly variables: Slugs;
  readonly folder: FolderFile | undefined;
  readonly token: Slugs | undefined;
}

function missingScope(missing: readonly ScopeName[], sources: UnusedSources): Error {
  const flags = missing.map((name) => flagOf[name]).join(' ');
  const variables = shownList(missing.map((name) => scopeVariableOf[name]));
  const [verb, it] = missing.length === 1 ? ['is', 'it'] : ['are', 'them'];
  return usageError(
    `the ${shownList(missing)} ${verb} missing: ${reasonOf(missing, sources, it)}`,
    ...formatHint(sources.flags.organization),
    `Add ${flags}, set ${variables}, or set ${it} for this directory: keyframe init -o <organization> -p <project> -e <environment>`,
  );
}

/** `organization, project and environment` */
function shownList(words: readonly string[]): string {
  return [words.slice(0, -1).join(', '), ...words.slice(-1)].filter((part) => part !== '').join(' and ');
}

/** Why no source names what is missing: the first one that names it for another place, else how far the last one goes. */
function reasonOf(missing: readonly ScopeName[], { variables, folder, token }: UnusedSources, it: string): string {
  const unused = missing.filter((name) => variables[name] !== undefined).map((name) => scopeVariableOf[name]);
  if (unused.length > 0) {
    return `${shownList(unused)} ${unused.length === 1 ? 'is' : 'are'} for ${slugsOf(variables)} only`;
  }
  if (folder !== undefined && missing.some((name) => folder[name] !== undefined)) {
    return `${folder.path} is for ${slugsOf(folder)} only`;
  }
  if (token !== undefined) return `the scope of the token is ${slugsOf(token)}`;
  if (folder === undefined) return 'there is no .keyframe.json in this directory or above';
  return `${folder.path} does not name ${it}`;
}

function slugsOf(slugs: Slugs): string {
  return names.flatMap((name) => slugs[name] ?? []).join('/');
}

/** The place that the scope of a service token names; undefined for a user. */
export function scopeOfToken(me: MeView): Slugs | undefined {
  if (me.type === 'user') return undefined;
  const { organization, project, environment } = me;
  return { organization: organization.slug, project: project?.slug, environment: environment?.slug };
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
