/**
 * Completion scripts. They hold no commands: each hands the words of the line to `keyframe __complete` and offers what it
 * prints (`completionOutput`). The words go through standard input, because other users can see the arguments of a process and
 * the line may hold a value. Only a `keyframe` in PATH is run, never a file of the present folder.
 */

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

const bash = `# Completion of keyframe for bash: source <(keyframe completion bash)
_keyframe() {
  local current="\${COMP_WORDS[COMP_CWORD]}" prefix='' directive='' line
  local -a shown=()
  COMPREPLY=()
  # Readline splits words at = unless the user has changed COMP_WORDBREAKS.
  if [[ $current == --*=* ]]; then prefix="\${current%%=*}="; fi
  while IFS= read -r line; do
    if [[ $line == :* ]]; then directive="$line"; continue; fi
    COMPREPLY+=("$prefix\${line%%$'\\t'*}")
    shown+=("\${line/$'\\t'/  -- }")
  done < <(printf '%s\\0' "\${COMP_WORDS[@]:1:COMP_CWORD}" | command keyframe __complete 2>/dev/null)
  # 63: the candidates are listed and none is inserted.
  if [[ \${COMP_TYPE:-} == 63 && \${#shown[@]} -gt 1 ]]; then COMPREPLY=("\${shown[@]}"); fi
  case "$directive" in
    :files) if compopt -o default 2>/dev/null; then return; fi; _keyframe_reply "$current" -f ;;
    ':program '*) _keyframe_program "\${directive#:program }" ;;
  esac
}
_keyframe_reply() {
  local word
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "\${@:2}" -- "$1")
}
# The program of run: its own completion if bash-completion is loaded, else commands and files.
_keyframe_program() {
  if declare -F _command_offset >/dev/null; then _command_offset "$1"
  elif [[ $1 -eq $COMP_CWORD ]]; then _keyframe_reply "\${COMP_WORDS[COMP_CWORD]}" -c
  elif ! compopt -o default 2>/dev/null; then _keyframe_reply "\${COMP_WORDS[COMP_CWORD]}" -f
  fi
}
complete -F _keyframe keyframe
`;

const zsh = `#compdef keyframe
# Completion of keyframe for zsh: source <(keyframe completion zsh)
_keyframe() {
  local line directive=''
  local -a offered
  while IFS= read -r line; do
    case "$line" in
      (:*) directive="$line" ;;
      (*) offered+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done < <(printf '%s\\0' "\${(@Q)words[2,CURRENT]}" | command keyframe __complete 2>/dev/null)
  if [[ "\${words[CURRENT]}" == --*=* ]]; then compset -P '*='; fi
  case "$directive" in
    (:files) _files ;;
    (':program '*) _keyframe_program $((\${directive#:program } + 1)) ;;
    (*) if ((\${#offered})); then _describe -V 'keyframe' offered; fi ;;
  esac
}
_keyframe_program() {
  shift $(($1 - 1)) words
  ((CURRENT -= $1 - 1))
  _normal
}
# As a file of fpath it is called directly; a sourced script only registers it.
if [[ "\${funcstack[1]}" == _keyframe ]]; then _keyframe "$@"; else compdef _keyframe keyframe; fi
`;

const fish = `# Completion of keyframe for fish: keyframe completion fish | source
function __keyframe_complete
  set -l before (commandline -opc)
  set -e before[1]
  set -l current (commandline -ct)
  set -l prefix (string match -r -- '^--[^=]*=' "$current")
  for line in (printf '%s\\0' $before "$current" | command keyframe __complete 2>/dev/null)
    switch "$line"
      case ':files'
        __fish_complete_path (string replace -- "$prefix" '' "$current") | string replace -r -- '^' "$prefix"
      case ':program *'
        set -l words $before "$current"
        set -l index (string replace ':program ' '' -- "$line")
        complete -C (string join ' ' -- $words[$index..-1])
      case ':*'
      case '*'
        echo "$prefix$line"
    end
  end
end
complete -c keyframe -e
complete -c keyframe -f -a '(__keyframe_complete)'
`;

const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };

/** The script of a shell. */
export function completionScript(shell: Shell): string {
  return scripts[shell];
}
