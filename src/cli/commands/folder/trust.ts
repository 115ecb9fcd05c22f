import { usageError } from '../../cli-error.ts';
import { defineCommand } from '../../command.ts';
import { shownFolder } from '../../settings/configuration.ts';
import { folderFileName } from '../../settings/folder-file.ts';
import { flag } from '../../options.ts';

/** `trust`. */
export const trustCommand = defineCommand({
  summary: 'Trust the .keyframe.json of this folder, as it is now',
  description:
    `${folderFileName} says which environment, and perhaps which server, the commands in a folder mean. One that came with ` +
    'a cloned repository counts only after you trust it, and again after each change of it. ' +
    'What keyframe init writes is trusted already. In CI, KEYFRAME_TRUST_FOLDER=1 trusts the file of the checkout. ' +
    'A file of another user, or in a folder of another user, is never used.',
  options: { isWithdrawn: flag('--withdraw', 'Trust it no longer') },
  examples: [
    { line: 'trust', note: 'After a look at what the file says' },
    { line: 'trust --withdraw', note: 'Until it is trusted again' },
  ],
  async run({ configuration, environment, io, printer }, { options }) {
    const found = configuration.foundFolder;
    if (found === undefined) {
      throw usageError(
        `there is no ${folderFileName} in ${environment.workingDirectory} or above`,
        'Write one: keyframe init -o <organization> -p <project> -e <environment>',
      );
    }
    const { file, text, isForeign } = found;
    const { path, ...content } = file;
    if (options.isWithdrawn) {
      const wasTrusted = configuration.trustedFolders.forget(path);
      return io.note(wasTrusted ? `${path} is trusted no longer.` : `${path} was not trusted.`);
    }
    if (isForeign) throw usageError(`${path} belongs to another user, or its folder does, and is never used`);
    configuration.trustedFolders.trust(path, text);
    await printer.object({
      value: { path, ...content },
      fields: [
        ['Trusted', path],
        ['Says', shownFolder(file)],
      ],
      name: path,
    });
  },
});
