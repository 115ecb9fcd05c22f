import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import type { Configuration } from '../../settings/configuration.ts';
import { type FolderFile, folderFileName, writeFolderFile } from '../../settings/folder-file.ts';
import { scopeOptions } from '../../core/options.ts';
import { scopeParams } from '../../settings/scope.ts';
import type { FolderOutput } from '../../output/shapes.ts';

/** `init`. */
export const initCommand = defineCommand({
  summary: 'Set the default environment for this directory',
  description: `Writes ${folderFileName} to the current directory. Commands in it and below then need no -o, -p and -e. The file contains no secret: commit it. With --url it also stores the address of the server. Other users must trust it once, after reading it: keyframe trust.`,
  options: scopeOptions,
  examples: [
    { line: 'init -o acme -p shop -e production', note: 'Set the default environment' },
    { line: 'init -e staging', note: 'Change to another environment of the same project' },
  ],
  async run(context, { options }) {
    const scope = await context.scope(options);
    const { organization, project, environment } = scope;
    await call(context.api(), 'GET /environments/{org}/{project}/{env}', { params: scopeParams(scope) });
    const { configuration } = context;
    const { url: storedUrl, variables } = kept(configuration);
    const url = configuration.flagUrl ?? storedUrl;
    const content = {
      ...(url === undefined ? {} : { url }),
      organization,
      project,
      environment,
      ...(variables === undefined ? {} : { variables }),
    };
    const { path, text } = writeFolderFile(context.environment.workingDirectory, content);
    configuration.trustedFolders.trust(path, text);
    await context.printer.object({
      value: { path, isTrusted: true, ...content } satisfies FolderOutput,
      fields: [
        ['Folder', context.environment.workingDirectory],
        ['Environment', `${organization}/${project}/${environment}`],
      ],
      name: path,
    });
  },
});

/** What the new file takes from the present one. Throws CliError refused if the user does not trust the file. */
function kept(configuration: Configuration): Pick<FolderFile, 'url' | 'variables'> {
  const { url, variables } = configuration.foundFolder?.file ?? {};
  return (url ?? variables) === undefined ? {} : (configuration.folder ?? {});
}
