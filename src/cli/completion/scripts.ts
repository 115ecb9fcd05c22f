import type { CommandNode, OptionNode } from '../command.ts';

/**
 * Completion scripts. Each knows all commands and options and asks nobody: it walks along the words before the cursor to find
 * the command (the place) and the option whose value is being typed (`before`), and offers what may stand there. Options are
 * offered once a hyphen is typed, so that they don't hide the files that an argument can be.
 */

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

interface Place extends Pick<CommandNode, 'commands' | 'options' | 'argument'> {
  /** The words of the command, such as `snapshot create`; empty for the program itself. */
  readonly words: string;
}

/** The script of a shell. */
export function completionScript(shell: Shell, program: CommandNode): string {
  // The words behind help are those of the other commands.
  const others = program.commands.filter(({ name }) => name !== 'help').map(withoutOptions);
  const commands = program.commands.map((command) =>
    command.name === 'help' ? { ...command, commands: others } : command,
  );
  const root = { ...program, commands };
  return scripts[shell]([{ ...root, words: '' }, ...root.commands.flatMap((command) => placesOf(command, ''))]);
}

function withoutOptions(node: CommandNode): CommandNode {
  return { ...node, options: [], argument: undefined, commands: node.commands.map(withoutOptions) };
}

function placesOf(command: CommandNode, above: string): Place[] {
  const words = above === '' ? command.name : `${above} ${command.name}`;
  return [{ ...command, words }, ...command.commands.flatMap((child) => placesOf(child, words))];
}

const scripts: Readonly<Record<Shell, (places: readonly Place[]) => string>> = { bash, zsh, fish };

function bash(places: readonly Place[]): string {
  const offers = places.map(({ words, commands, options, argument }) => {
    const names = argumentWords(argument) ?? commands.map(({ name }) => name);
    const flags = options.flatMap((option) => option.flags);
    const kind = typeof argument === 'string' ? ` kind=${argument}` : '';
    return `    '${words}') offered='${names.join(' ')}' flags='${flags.join(' ')}'${kind} ;;`;
  });
  return `# Completion of keyframe for bash: source <(keyframe completion bash)
_keyframe() {
  local current="\${COMP_WORDS[COMP_CWORD]}" place='' before='' offered='' flags='' kind='' word index
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    # Readline takes --output=json for three words.
    if [[ $word == '=' ]]; then continue; fi
    if [[ -n $before ]]; then before=''; continue; fi
    case "$word" in
      ${quoted(valueFlags(places), '|')}) before="$word"; continue ;;
    esac
    case "$place $word" in
      ${quoted(steps(places), '|')}) place="\${place:+$place }$word" ;;
      ${programPlaces(places)
        .map((words) => `'${words} -'*`)
        .join('|')}) if [[ $word == -- ]]; then _keyframe_program $((index + 1)); return; fi ;;
      ${programPlaces(places)
        .map((words) => `'${words} '*`)
        .join('|')}) _keyframe_program "$index"; return ;;
    esac
  done
  if [[ $current == '=' ]]; then current=''; fi
  if [[ -n $before ]]; then
    case "$place $before" in
${choicesOf(places)
  .map(
    ([words, flag, choices]) =>
      `      '${words} ${flag}') ${choices === 'file' ? 'kind=file' : `offered='${choices.join(' ')}'`} ;;`,
  )
  .join('\n')}
    esac
  else
    case "$place" in
${offers.map((line) => `  ${line}`).join('\n')}
    esac
    if [[ $current == -* ]]; then offered="$flags" kind=''; fi
  fi
  COMPREPLY=()
  case "$kind" in
    file) if compopt -o default 2>/dev/null; then return; fi; _keyframe_reply "$current" -f ;;
    program) _keyframe_reply "$current" -c ;;
    *) _keyframe_reply "$current" -W "$offered" ;;
  esac
}
_keyframe_reply() {
  local word
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "\${@:2}" -- "$1")
}
# The program of run: its own completion, where bash-completion is there to find it, else its name and files.
_keyframe_program() {
  COMPREPLY=()
  if declare -F _command_offset >/dev/null; then _command_offset "$1"
  elif [[ $1 -eq $COMP_CWORD ]]; then _keyframe_reply "\${COMP_WORDS[COMP_CWORD]}" -c
  elif ! compopt -o default 2>/dev/null; then _keyframe_reply "\${COMP_WORDS[COMP_CWORD]}" -f
  fi
}
complete -F _keyframe keyframe
`;
}

function zsh(places: readonly Place[]): string {
  const offers = places.map(({ words, commands, options, argument }) => {
    const named = argumentWords(argument) ?? commands.map(({ name, summary }) => described(name, summary));
    const flags = options.flatMap((option) => option.flags.map((flag) => described(flag, option.description)));
    const kind = typeof argument === 'string' ? ` kind=${argument}` : '';
    return `      ('${words}') offered=(${named.join(' ')}) flags=(${flags.join(' ')})${kind} ;;`;
  });
  const choices = choicesOf(places).map(([words, flag, words2]) => {
    return `      ('${words} ${flag}') ${words2 === 'file' ? 'kind=file' : `offered=(${words2.join(' ')})`} ;;`;
  });
  const programs = programPlaces(places);
  return `#compdef keyframe
# Completion of keyframe for zsh: source <(keyframe completion zsh)
_keyframe() {
  local place='' before='' kind='' word
  local -i index
  local -a offered flags
  for ((index = 2; index < CURRENT; index++)); do
    word="\${words[index]}"
    if [[ -n $before ]]; then before=''; continue; fi
    case "$word" in
      (${quoted(valueFlags(places), '|')}) before="$word"; continue ;;
    esac
    case "$place $word" in
      (${quoted(steps(places), '|')}) place="\${place:+$place }$word" ;;
      (${programs.map((words) => `'${words} -'*`).join('|')}) if [[ $word == -- ]]; then _keyframe_program $((index + 1)); return; fi ;;
      (${programs.map((words) => `'${words} '*`).join('|')}) _keyframe_program $index; return ;;
    esac
  done
  if [[ -z $before && "\${words[CURRENT]}" == --*=* ]]; then
    before="\${words[CURRENT]%%=*}"
    compset -P '*='
  fi
  if [[ -n $before ]]; then
    case "$place $before" in
${choices.join('\n')}
    esac
  else
    case "$place" in
${offers.join('\n')}
    esac
    if [[ "\${words[CURRENT]}" == -* ]]; then offered=("\${flags[@]}") kind=''; fi
  fi
  case "$kind" in
    (file) _files ;;
    (program) _command_names -e ;;
    (*) _describe 'keyframe' offered ;;
  esac
}
_keyframe_program() {
  shift $(($1 - 1)) words
  ((CURRENT -= $1 - 1))
  _normal
}
# As a file of fpath it is called at once, as a source only announced.
if [[ "\${funcstack[1]}" == _keyframe ]]; then _keyframe "$@"; else compdef _keyframe keyframe; fi
`;
}

function fish(places: readonly Place[]): string {
  const lines = places.flatMap(({ words, commands, options, argument }) => {
    const at = `complete -c keyframe -n '__keyframe_at "${words}"'`;
    return [
      ...(argument === 'file' || argument === 'program' ? [] : [`${at} -f`]),
      ...(argumentWords(argument) ?? []).map((word) => `${at} -a ${word}`),
      ...commands.map(({ name, summary }) => `${at} -a ${name} -d ${fishQuoted(summary)}`),
      ...options.map((option) => `${at} ${fishFlags(option)} -d ${fishQuoted(option.description)}`),
    ];
  });
  return `# Completion of keyframe for fish: keyframe completion fish | source
function __keyframe_at
  set -l place ''
  set -l before ''
  for word in (commandline -opc)[2..-1]
    if test -n "$before"
      set before ''
      continue
    end
    switch "$word"
      case ${quoted(valueFlags(places), ' ')}
        set before "$word"
        continue
    end
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

function fishFlags({ flags, hasValue, choices }: OptionNode): string {
  const forms = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  if (choices === 'file') return `${forms.join(' ')} -r -F`;
  if (choices.length > 0) return `${forms.join(' ')} -x -a '${choices.join(' ')}'`;
  return hasValue ? `${forms.join(' ')} -x` : forms.join(' ');
}

/** `place word` for each step from a place to one below it, as a pattern of the shells' case. */
function steps(places: readonly Place[]): string[] {
  return places.flatMap(({ words, commands }) => commands.map(({ name }) => `${words} ${name}`));
}

/** The options that a value follows. One form has a value wherever it is, but for the program's own --version, which ends it. */
function valueFlags(places: readonly Place[]): string[] {
  const flags = places.flatMap(({ options }) =>
    options.filter(({ hasValue }) => hasValue).flatMap((option) => option.flags),
  );
  return [...new Set(flags)];
}

/** The commands whose argument is a program. */
function programPlaces(places: readonly Place[]): string[] {
  return places.filter(({ argument }) => argument === 'program').map(({ words }) => words);
}

function choicesOf(places: readonly Place[]): [words: string, flag: string, choices: OptionNode['choices']][] {
  return places.flatMap(({ words, options }) =>
    options
      .filter(({ choices }) => choices.length > 0)
      .flatMap(({ flags, choices }) =>
        flags.map((flag): [string, string, OptionNode['choices']] => [words, flag, choices]),
      ),
  );
}

function argumentWords(argument: CommandNode['argument']): readonly string[] | undefined {
  return typeof argument === 'string' ? undefined : argument;
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
