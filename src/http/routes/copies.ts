import type { CopyLists } from '../../services/secrets/copy/copies.ts';
import type { PresentRevision } from '../../services/kernel/environment-lock.ts';
import { copyEnvironment } from '../../wire/contract/copies.ts';
import type { CopyView } from '../../wire/copies.ts';
import { replayed } from '../request/idempotency.ts';
import { environmentRoute, type Route } from '../route.ts';

/** docs/interface.md 4.13 */
export const copyRoutes: readonly Route[] = [
  environmentRoute({
    ...copyEnvironment,
    action: 'environment.copy',
    async handle({ access, copies }, destination, { body, idempotencyKey: idempotency, room }) {
      const { from, dryRun = false, ...input } = body;
      const { organization, caller } = destination;
      const source = await access.environment(caller, 'secret.list', {
        organization,
        project: from.project,
        environment: from.environment,
      });
      const selection = { ...input, revision: from.revision, room };
      if (dryRun) {
        const { planHash, ...plan } = await copies.plan({ source, destination }, selection);
        return { status: 200, body: { ...viewOf(plan), planHash } };
      }
      const answer = await copies.copy({ source, destination }, { ...selection, idempotency });
      const view = viewOf(answer);
      return answer.replayed === true ? replayed(view) : { status: 200, body: view };
    },
  }),
];

function viewOf({ from, revision, revisionId, ...lists }: CopyLists & PresentRevision): CopyView {
  const { created, updated, unchanged, kept, deleted, destroyed } = lists;
  return {
    created: [...created],
    updated: [...updated],
    unchanged: [...unchanged],
    kept: [...kept],
    deleted: [...deleted],
    destroyed: [...destroyed],
    from: { revision: from.revision, revisionId: from.revisionId },
    revision,
    revisionId,
  };
}
