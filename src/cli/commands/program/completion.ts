import { usageError } from '../../core/cli-error.ts';
import { defineCommand } from '../../core/command.ts';
import { completionScript, shells } from '../../completion/scripts.ts';
import { argument } from '../../core/options.ts';

/** `completion bash|zsh|fish`. */
export const completionCommand = defineCommand({
  summary: 'Print the completion script for a shell',
  description:
    'Prints a script for the shell. The Tab key then completes commands, options and files, and with the stored token ' +
    'also slugs, keys, versions, snapshots and tokens. It never shows a value. It waits for the server for one second, ' +
    'or as long as --timeout in the line says. The server audits these lists like those of other commands. The folder ' +
    'of the file must exist (mkdir -p). Without the package bash-completion, bash reads no such files: add `source ' +
    '<(keyframe completion bash)` to ~/.bashrc.',
  arguments: { shell: { ...argument('<shell>', 'Shell'), choices: shells } },
  examples: [
    { line: 'completion bash > ~/.local/share/bash-completion/completions/keyframe', note: 'For bash' },
    { line: 'completion zsh > ~/.zfunc/_keyframe', note: 'For zsh, if fpath contains ~/.zfunc' },
    { line: 'completion fish > ~/.config/fish/completions/keyframe.fish', note: 'For fish' },
  ],
  run({ io }, { args }) {
    const shell = shells.find((one) => one === args.shell);
    if (shell === undefined) throw usageError(`the shell must be one of ${shells.join(', ')}`);
    io.write(completionScript(shell));
    return Promise.resolve();
  },
});
