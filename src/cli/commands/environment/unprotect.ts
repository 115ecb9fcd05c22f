import { call } from '../../../client/call.ts';
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
    const { organization, project } = await context.project(options);
    const params = { org: organization, project, env: slug };
    const body = { protected: false };
    const changed = await call(context.api(), 'PATCH /environments/{org}/{project}/{env}', { params, body });
    await printProtection(context, changed.body);
  },
});
