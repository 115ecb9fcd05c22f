import { invalidField } from '../../domain/errors/domain-error.ts';
import type { OpenStream, StreamEvent, StreamStart } from '../../services/changes/change-stream.ts';
import type { RevertAnswer } from '../../services/changes/reverts.ts';
import type { RevisionRecord } from '../../services/changes/changes.ts';
import { listChanges, revertChange } from '../../wire/contract/changes.ts';
import type { ChangeView, RevertView, StreamEventView } from '../../wire/changes.ts';
import { revisionText } from '../../wire/fields.ts';
import { replayed } from '../request/idempotency.ts';
import { acceptsEvents, comment, eventText, retryText } from '../response/server-sent-events.ts';
import { type EventStream, type Route, environmentRoute } from '../route.ts';

// Caches must not mix up the two responses, and proxies must not buffer events.
const listHeaders = { Vary: 'Accept' };
const streamHeaders = { Vary: 'Accept', 'X-Accel-Buffering': 'no' };
const reconnectMs = 2_000;

/** docs/interface.md 4.10 and 4.14 */
export const changeRoutes: readonly Route[] = [
  environmentRoute({
    ...listChanges,
    action: 'change.list',
    async handle({ changes, changeStreams }, access, { query, headers }) {
      if (!acceptsEvents(headers.accept)) {
        const list = await changes.list(access, query);
        const body = { changes: list.changes.map(changeView), nextCursor: list.nextCursor };
        return { status: 200, body, headers: listHeaders };
      }
      for (const field of ['limit', 'cursor'] as const) {
        if (query[field] !== undefined)
          throw invalidField(field, 'applies to the list only; a stream of events has no pages');
      }
      const opened = await changeStreams.start(access, startOf(query.since, headers['last-event-id']));
      return { status: 200, stream: textOf(opened), headers: streamHeaders };
    },
  }),
  environmentRoute({
    ...revertChange,
    action: 'change.revert',
    async handle({ reverts }, access, { params, body: { dryRun = false, ...rest }, idempotencyKey: idempotency }) {
      const input = { reverted: params.revision, ...rest };
      if (dryRun) {
        const { planHash, ...plan } = await reverts.plan(access, input);
        return { status: 200, body: { ...revertViewOf(plan), planHash } };
      }
      const done = await reverts.revert(access, { ...input, idempotency });
      const view = revertViewOf(done);
      return done.replayed === true ? replayed(view) : { status: 200, body: view };
    },
  }),
];

/** Last-Event-ID takes precedence over the URL, because the URL does not change when a browser reconnects. */
function startOf(since: StreamStart, lastEventId: string | undefined): StreamStart {
  if (lastEventId === undefined || lastEventId === '') return since;
  const parsed = revisionText.safeParse(lastEventId);
  return parsed.success ? parsed.data : null;
}

function textOf(stream: OpenStream): EventStream {
  return async function* text(signal) {
    // Started before anything is written: the stream occupies its slot until it ends.
    const events = stream(signal);
    let isFirst = true;
    for await (const event of events) {
      yield isFirst ? retryText(reconnectMs) + textOfEvent(event) : textOfEvent(event);
      isFirst = false;
    }
  };
}

function textOfEvent(event: StreamEvent): string {
  if (event.kind === 'idle') return comment;
  return eventText(eventView(event));
}

function eventView(event: Exclude<StreamEvent, { kind: 'idle' }>): StreamEventView {
  const { revision, revisionId } = event;
  const place = { revision, revisionId };
  if (event.kind === 'change') return { event: 'change', id: revisionId, data: { ...place, keys: [...event.keys] } };
  if (event.kind === 'reset') return { event: 'reset', id: cursorOf(place), data: place };
  // Missed changes follow. A reader that loses its connection now must resume at its former position.
  return { event: 'ready', data: place, ...(event.resumed ? {} : { id: cursorOf(place) }) };
}

/** The id of revision 0 is lost after the first change, so its number stands for the beginning. */
function cursorOf({ revision, revisionId }: { readonly revision: number; readonly revisionId: string }): string {
  return revision === 0 ? '0' : revisionId;
}

function revertViewOf(done: Omit<RevertAnswer, 'replayed'>): RevertView {
  const { reverted, restored, recreated, deleted, unchanged, destroyed, conflicts, revision, revisionId } = done;
  return {
    reverted,
    restored: [...restored],
    recreated: [...recreated],
    deleted: [...deleted],
    unchanged: [...unchanged],
    destroyed: [...destroyed],
    conflicts: conflicts.map((conflict) => ({ ...conflict })),
    revision,
    revisionId,
  };
}

function changeView({ createdAt, keys, ...change }: RevisionRecord): ChangeView {
  return { ...change, createdAt: createdAt.toISOString(), keys: [...keys] };
}
