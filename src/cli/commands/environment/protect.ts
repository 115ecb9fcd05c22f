import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { argument, completing, planOptions, projectOptions } from '../../core/options.ts';
import { counted } from '../../../lib/counted.ts';
import { nothingChanged, printPlan } from '../secret/shown-plan.ts';
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
    ...planOptions,
  },
  examples: [
    { line: 'env protect production -o acme -p shop --plan', note: 'Who would lose write access' },
    { line: 'env protect production -o acme -p shop', note: 'Protect it' },
  ],
  async run(context, { args: { slug }, options: { isPlan, isDryRun, ...place } }) {
    const dryRun = isPlan || isDryRun;
    const { organization, project } = await context.project(place);
    const params = { org: organization, project, env: slug };
    const body = { protected: true, ...(dryRun ? { dryRun } : {}) };
    const { body: environment } = await call(context.api(), 'PATCH /environments/{org}/{project}/{env}', {
      params,
      body,
    });
    const verb = dryRun ? 'would lose' : 'loses';
    const losers = (environment.tokensWithoutAccess ?? []).map(
      ({ name, scope, id }) => `The service token ${name} (scope ${scope}, ${id}) ${verb} write access.`,
    );
    for (const line of losers) context.io.note(line);
    if (!dryRun) return await printProtection(context, environment);
    const summary = `it would be protected, and ${counted(losers.length, 'service token')} would lose write access`;
    const notes = [nothingChanged(`${organization}/${project}/${slug}`, summary)];
    await printPlan(context, { value: environment, keys: [slug], lines: [], notes });
  },
});
