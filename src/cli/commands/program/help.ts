import { defineCommand } from '../../core/command.ts';
import { completing, restArguments } from '../../core/options.ts';

/** `help`. */
export const helpCommand = defineCommand({
  summary: 'Show the help of a command',
  description: 'Same as --help after the command. Without a command, shows the help of keyframe.',
  arguments: {
    words: completing('command', restArguments('[words...]', 'Words of the command, such as: snapshot restore')),
  },
  examples: [
    { line: 'help', note: 'All commands' },
    { line: 'help snapshot restore', note: 'Help of one command' },
  ],
  async run(context, { args }) {
    await context.help(args.words);
  },
});
