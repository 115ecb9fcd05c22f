import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { argument, completing, flag, projectOptions } from '../../core/options.ts';
import { printProtection } from './protection.ts';

/** `env protect <slug>`. */
export const envProtectCommand = defineCommand({
  summary: 'Let only admins change the secrets of an environment',
  description:
    'Only owners and admins then change its secrets. So do read_write service tokens whose scope is this environment, ' +
    'and custom resources whose AccessGrant names it. Everything else still reads. The command lists the service ' +
    'tokens that lose write access. `keyframe env unprotect` ends the protection.',
  arguments: { slug: completing('environment', argument('<slug>', 'Slug of the environment')) },
  options: {
    ...projectOptions,
    isPlanOnly: flag('--plan', 'Only list the service tokens that would lose write access'),
    isDryRun: flag('--dry-run', 'Same as --plan'),
  },
  examples: [
    { line: 'env protect production -o acme -p shop --plan', note: 'Who would lose write access' },
    { line: 'env protect production -o acme -p shop', note: 'Protect it' },
  ],
  async run(context, { args: { slug }, options: { isPlanOnly, isDryRun, ...place } }) {
    const dryRun = isPlanOnly || isDryRun;
    const { organization, project } = await context.project(place);
    const params = { org: organization, project, env: slug };
    const body = { protected: true, ...(dryRun ? { dryRun } : {}) };
    const { body: environment } = await call(context.api(), 'PATCH /environments/{org}/{project}/{env}', {
      params,
      body,
    });
    const verb = dryRun ? 'would lose' : 'loses';
    for (const { name, scope, id } of environment.tokensWithoutAccess ?? []) {
      context.io.note(`The service token ${name} (scope ${scope}, ${id}) ${verb} write access.`);
    }
    await printProtection(context, environment);
  },
});
