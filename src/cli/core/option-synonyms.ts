/** What other programs call our options. The first one that the command has is meant. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  '-c': ['--env'],
  '-f': ['--file', '--from'],
  '-F': ['--format', '--output'],
  '-j': ['--output json'],
  '-m': ['--comment'],
  '-o': ['--output'],
  '-q': ['--output name'],
  '-t': ['--token-file'],
  '-u': ['--url'],
  '--address': ['--url'],
  '--api-url': ['--url'],
  '--assume-yes': ['--yes'],
  '--check': ['--plan', '--exit-code'],
  '--config': ['--env'],
  '--domain': ['--url'],
  '--endpoint': ['--url'],
  '--environment': ['--env'],
  '--expires': ['--expires-in'],
  '--force': ['--yes'],
  '--format': ['--output'],
  '--host': ['--url'],
  '--message': ['--comment'],
  '--no-confirm': ['--yes'],
  '--non-interactive': ['--yes'],
  '--organization': ['--org'],
  '--out': ['--file', '--output'],
  '--output-format': ['--output'],
  '--plain': ['--reveal', '--output name'],
  '--projectId': ['--project-id', '--project'],
  '--quiet': ['--output name'],
  '--raw': ['--reveal', '--output json'],
  '--reason': ['--comment'],
  '--server': ['--url'],
  '--show': ['--reveal'],
  '--show-values': ['--reveal'],
  '--token': ['--token-file'],
  '--ttl': ['--expires-in'],
  '--workspace': ['--project'],
  '--yaml': ['--output yaml'],
};

/**
 * The message of commander about an unknown option, with what it is called here.
 *
 * @param has whether the command has this option
 */
export function withOptionSynonym(message: string, has: (flag: string) => boolean): string {
  const given = / '(-[^'=]*)/.exec(message)?.[1] ?? '';
  const meant = isForeignOption(given) ? synonyms[given]?.find((option) => has(option.split(' ')[0] ?? '')) : undefined;
  return meant === undefined ? message : `${message.split('\n')[0]}\n(Did you mean ${meant}?)`;
}

/** Whether the word is an option of another program, and so no value in the wrong place. */
export function isForeignOption(word: string): boolean {
  return Object.hasOwn(synonyms, word);
}

/** The options that are suggested, for tests. */
export const suggestedOptions: readonly string[] = [...new Set(Object.values(synonyms).flat())];

// What -o means in other programs.
const formats: ReadonlySet<string> = new Set(['json', 'yaml', 'yml', 'table', 'text', 'wide', 'name', 'csv']);

/** What to do if an organization with the name of a format is missing: `-o json`. */
export function formatHint(organization: string | undefined): string[] {
  if (organization === undefined || !formats.has(organization)) return [];
  return ['-o names the organization. For the format, use --output, such as --output json'];
}
