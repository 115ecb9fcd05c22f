import { defineCommand } from '../../command.ts';
import { completing, restArguments } from '../../options.ts';

/** `help`. */
export const helpCommand = defineCommand({
  summary: 'Show the help of a command',
  description: 'The same as --help behind the command. Without a command, the help of the whole program.',
  arguments: {
    words: completing('command', restArguments('[words...]', 'Words of the command, such as: snapshot restore')),
  },
  examples: [
    { line: 'help', note: 'All commands' },
    { line: 'help snapshot restore', note: 'One of them' },
  ],
  async run(context, { args }) {
    await context.help(args.words);
  },
});
