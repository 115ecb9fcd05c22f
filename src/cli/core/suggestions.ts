/** What users of other programs call our commands. Each command destroys nothing. */
const synonyms: ReadonlyMap<string, string> = new Map(
  Object.entries({
    list: ['ls', 'secrets', 'secret', 'keys', 'find', 'search', 'grep'],
    get: ['show', 'read', 'cat', 'print', 'reveal'],
    set: ['add', 'put', 'write', 'update'],
    unset: ['delete', 'del', 'rm', 'remove'],
    push: ['import', 'upload', 'apply'],
    pull: ['export', 'download', 'fetch'],
    run: ['exec'],
    diff: ['compare'],
    promote: ['copy', 'cp', 'clone', 'sync'],
    status: ['doctor', 'check', 'ping', 'health', 'info'],
    undo: ['revert', 'recover', 'undelete'],
    history: ['log', 'logs', 'changes'],
    watch: ['follow', 'tail', 'events'],
    'snapshot restore': ['restore'],
    'snapshot create': ['backup', 'save'],
    login: ['signin', 'sign-in', 'auth', 'authenticate'],
    logout: ['signout', 'sign-out'],
    whoami: ['me', 'id'],
    init: ['config', 'configure', 'setup', 'use', 'switch', 'link'],
    org: ['organization', 'organizations', 'orgs'],
    project: ['projects'],
    env: ['environment', 'environments', 'envs'],
    snapshot: ['snapshots'],
    token: ['tokens'],
    member: ['members'],
    user: ['users'],
  }).flatMap(([command, words]) => words.map((word) => [word, command] as const)),
);

// A user who mistypes a command must not be led to one that cannot be undone.
const neverSuggested: ReadonlySet<string> = new Set([
  'destroy',
  'delete',
  'prune',
  'purge',
  'remove',
  'revoke',
  'revoke-service',
]);

export interface UnknownWord {
  readonly word: string;
  /** The word is in the place of a command of the program, not of a group. */
  readonly isProgram: boolean;
}

/** The message of commander about an unknown command, with the synonym if there is one, and else without commands that destroy. */
export function withSafeSuggestion(message: string, { word, isProgram }: UnknownWord): string {
  const [plain = ''] = message.split('\n');
  const similar = /\(Did you mean (?:one of )?(.*)\?\)/.exec(message)?.[1]?.split(', ') ?? [];
  const synonym = isProgram ? synonyms.get(word.toLowerCase()) : undefined;
  const meant = synonym === undefined ? similar.filter((name) => !neverSuggested.has(name)) : [synonym];
  if (meant.length === 0) return plain;
  return `${plain}\n(Did you mean ${meant.length === 1 ? '' : 'one of '}${meant.join(', ')}?)`;
}

/** The words that `withSafeSuggestion` knows, and the command of each. */
export const knownSynonyms: readonly (readonly [word: string, command: string])[] = [...synonyms];
