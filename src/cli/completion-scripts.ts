import type { CommandNode, OptionNode } from './command.ts';

/**
 * Completion scripts. Each knows all commands and options and asks nobody: it walks along the words before the cursor to find
 * the command (the place), and offers what may follow there.
 */

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

interface Place {
  /** The words of the command, such as `snapshot create`; empty for the program itself. */
  readonly words: string;
  readonly commands: readonly CommandNode[];
  readonly options: readonly OptionNode[];
}

/** The script of a shell. */
export function completionScript(shell: Shell, commands: readonly CommandNode[]): string {
  const root: Place = { words: '', commands, options: [] };
  return scripts[shell]([root, ...commands.flatMap((command) => placesOf(command, ''))]);
}

function placesOf({ name, commands, options }: CommandNode, above: string): Place[] {
  const words = above === '' ? name : `${above} ${name}`;
  return [{ words, commands, options }, ...commands.flatMap((command) => placesOf(command, words))];
}

const scripts: Readonly<Record<Shell, (places: readonly Place[]) => string>> = { bash, zsh, fish };

/** `place word` for each step from a place to one below it, as a pattern of the shells' case. */
function steps(places: readonly Place[]): string[] {
  return places.flatMap(({ words, commands }) => commands.map(({ name }) => `${words} ${name}`));
}

function bash(places: readonly Place[]): string {
  const offers = places.map(({ words, commands, options }) => {
    const names = [...commands.map(({ name }) => name), ...options.flatMap(({ flags }) => flags)];
    return `    '${words}') offered='${names.join(' ')}' ;;`;
  });
  const choices = choicesOf(places).map(
    ([words, flag, words2]) => `    '${words} ${flag}') offered='${words2.join(' ')}' ;;`,
  );
  return `# Completion of keyframe for bash: source <(keyframe completion bash)
_keyframe() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD - 1]}" place='' offered='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$place $word" in
      ${quoted(steps(places), '|')}) place="\${place:+$place }$word" ;;
    esac
  done
  case "$place" in
${offers.join('\n')}
  esac
  case "$place $before" in
${choices.join('\n')}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$offered" -- "$current")
}
complete -o default -F _keyframe keyframe
`;
}

function zsh(places: readonly Place[]): string {
  const offers = places.map(({ words, commands, options }) => {
    const named = commands.map(({ name, summary }) => described(name, summary));
    const flags = options.flatMap((option) => option.flags.map((flag) => described(flag, option.description)));
    return `    ('${words}') offered=(${[...named, ...flags].join(' ')}) ;;`;
  });
  const choices = choicesOf(places).map(
    ([words, flag, words2]) => `    ('${words} ${flag}') offered=(${words2.join(' ')}) ;;`,
  );
  return `#compdef keyframe
# Completion of keyframe for zsh: source <(keyframe completion zsh)
_keyframe() {
  local place='' word
  local -a offered
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$place $word" in
      (${quoted(steps(places), '|')}) place="\${place:+$place }$word" ;;
    esac
  done
  case "$place" in
${offers.join('\n')}
  esac
  case "$place \${words[CURRENT-1]}" in
${choices.join('\n')}
  esac
  _describe 'keyframe' offered || _files
}
compdef _keyframe keyframe
`;
}

function fish(places: readonly Place[]): string {
  const lines = places.flatMap(({ words, commands, options }) => {
    const at = `complete -c keyframe -n '__keyframe_at "${words}"'`;
    return [
      ...(commands.length === 0 ? [] : [`${at} -f`]),
      ...commands.map(({ name, summary }) => `${at} -a ${name} -d ${fishQuoted(summary)}`),
      ...options.map((option) => `${at} ${fishFlags(option)} -d ${fishQuoted(option.description)}`),
    ];
  });
  return `# Completion of keyframe for fish: keyframe completion fish | source
function __keyframe_at
  set -l place ''
  for word in (commandline -opc)[2..-1]
    switch "$place $word"
      case ${quoted(steps(places), ' ')}
        set place (string trim -- "$place $word")
    end
  end
  test "$place" = "$argv[1]"
end
${lines.join('\n')}
`;
}

function fishFlags({ flags, choices }: OptionNode): string {
  const forms = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  return choices.length === 0 ? forms.join(' ') : `${forms.join(' ')} -x -a '${choices.join(' ')}'`;
}

function choicesOf(places: readonly Place[]): [words: string, flag: string, choices: readonly string[]][] {
  return places.flatMap(({ words, options }) =>
    options
      .filter(({ choices }) => choices.length > 0)
      .flatMap(({ flags, choices }) =>
        flags.map((flag): [string, string, readonly string[]] => [words, flag, choices]),
      ),
  );
}

function quoted(patterns: readonly string[], separator: string): string {
  return patterns.map((pattern) => `'${pattern}'`).join(separator);
}

/** An entry of zsh's _describe: a colon ends the name. */
function described(name: string, description: string): string {
  return `'${name}:${description.replaceAll("'", `'\\''`)}'`;
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;
}
