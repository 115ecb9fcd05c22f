import { apiPath } from '../../../client/api-client.ts';
import type { UpdatedEnvironmentView } from '../../../wire/tenancy.ts';
import { defineCommand } from '../../core/command.ts';
import { argument, completing, projectOptions } from '../../core/options.ts';
import { printProtection } from './protection.ts';

/** `env unprotect <slug>`. */
export const envUnprotectCommand = defineCommand({
  summary: 'End the protection of an environment',
  description: 'Developers, and service tokens of the project and the organization, can then change its secrets again.',
  arguments: { slug: completing('environment', argument('<slug>', 'Slug of the environment')) },
  options: projectOptions,
  examples: [{ line: 'env unprotect production -o acme -p shop', note: 'Let developers write again' }],
  async run(context, { args: { slug }, options }) {
    const { organization, project } = context.project(options);
    const path = apiPath`/environments/${organization}/${project}/${slug}`;
    await printProtection(context, await context.api().patch<UpdatedEnvironmentView>(path, { protected: false }));
  },
});
