import { usageError } from '../../core/cli-error.ts';
import { defineCommand } from '../../core/command.ts';
import { shownFolder } from '../../settings/configuration.ts';
import { folderFileName } from '../../settings/folder-file.ts';
import { flag } from '../../core/options.ts';
import type { FolderOutput } from '../../output/shapes.ts';

/** `trust`. */
export const trustCommand = defineCommand({
  summary: 'Trust the .keyframe.json of this directory in its current state',
  description: `${folderFileName} sets the default environment of a directory, and optionally the server and the variables that programs get. A file that came with a cloned repository is used only after you trust it, and again after each change. Files that keyframe init writes are trusted. In CI, KEYFRAME_TRUST_FOLDER=1 trusts the file of the checkout. A file that belongs to another user, or is in the directory of another user, is never used.`,
  options: { isWithdrawn: flag('--withdraw', 'Withdraw the trust') },
  examples: [
    { line: 'trust', note: 'After reading the file' },
    { line: 'trust --withdraw', note: 'Stop using the file' },
  ],
  async run({ configuration, environment, printer }, { options }) {
    const found = configuration.foundFolder;
    if (found === undefined) {
      throw usageError(
        `there is no ${folderFileName} in ${environment.workingDirectory} or above`,
        'Write one: keyframe init -o <organization> -p <project> -e <environment>',
      );
    }
    const { file, text } = found;
    const { path, ...content } = file;
    if (options.isWithdrawn) {
      const wasTrusted = configuration.trustedFolders.forget(path);
      const value = { path, isTrusted: false, ...content } satisfies FolderOutput;
      const sentence = wasTrusted ? `${path} is trusted no longer.` : `${path} was not trusted.`;
      return await printer.done({ value, sentence, name: path });
    }
    configuration.trustedFolders.trust(path, text);
    await printer.object({
      value: { path, isTrusted: true, ...content } satisfies FolderOutput,
      fields: [
        ['Trusted', path],
        ['Says', shownFolder(file)],
      ],
      name: path,
    });
  },
});
