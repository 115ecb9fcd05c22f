import { CliError } from '../../core/cli-error.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import { durationOption } from '../../core/duration-option.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { flag, scopeOptions, text } from '../../core/options.ts';
import type { WatchedChangeOutput } from '../../output/shapes.ts';
import type { Scope } from '../../settings/scope.ts';
import { endOnSignals } from '../../terminal/end-on-signals.ts';
import { scopeFlags, shownScope } from '../secret/secrets-api.ts';
import { followChanges } from './followed-changes.ts';
import { noteOutage } from './outage-note.ts';
import { ChangeReader } from './watched-change.ts';

/** `watch`: the changes of an environment as they happen. */
export const watchCommand = defineCommand({
  summary: 'Show the changes of an environment as they happen',
  description:
    'Prints a line for each change: time, revision, user and keys (+ new, ~ changed, - deleted), without values. --output json prints one object per line. If the connection ends, the command reconnects and misses no change. Ctrl-C ends it with exit code 130. If no change comes within the time of --within, the exit code is 9 with --once, and otherwise 0.',
  options: {
    ...scopeOptions,
    since: text('--since <revision>', 'Begin with the changes after this revision (number or id)'),
    isOnce: flag('--once', 'End after the first change'),
    within: durationOption('--within <duration>', 'End after this time, such as 90s or 5m'),
  },
  examples: [
    { line: 'watch', note: 'Until Ctrl-C' },
    { line: 'watch --since 41 --output json', note: 'For a program, with the changes after revision 41 first' },
    { line: 'watch --once --within 10m', note: 'Wait for the next change, at most ten minutes' },
  ],
  async run(context, { options }) {
    const scope = await context.scope(options);
    const { since, isOnce, within } = options;
    endOnSignals();
    const end = new AbortController();
    const timer = within === undefined ? undefined : setTimeout(() => end.abort(), within);
    const reader = new ChangeReader({ scope, since });
    const events = followChanges({
      api: () => context.api(end.signal),
      scope,
      since,
      signal: end.signal,
      read: async (event, api) => await reader.read(event, api),
      onOutage: noteOutage(context),
    });
    let changes = 0;
    let hasBegun = false;
    try {
      for await (const event of events) {
        if (event.kind === 'change') await print(context, event.change);
        else noteEvent(context, scope, { ...event, hasBegun, since });
        hasBegun = true;
        changes += event.kind === 'change' ? 1 : 0;
        if (isOnce && changes > 0) break;
      }
    } finally {
      clearTimeout(timer);
    }
    if (isOnce && changes === 0) {
      throw new CliError(exitCodes.late, `${shownScope(scope)} did not change within the time of --within`);
    }
  },
});

interface OtherEvent {
  readonly kind: 'ready' | 'reset' | 'none';
  readonly revision?: number;
  readonly hasBegun: boolean;
  readonly since: string | undefined;
}

/** Throws CliError notFound if the server does not know the revision of --since. */
function noteEvent({ io }: CommandContext, scope: Scope, { kind, revision, hasBegun, since }: OtherEvent): void {
  const place = shownScope(scope);
  if (kind === 'ready') io.note(`${hasBegun ? 'Connected again' : 'Watching'}: ${place} is at revision ${revision}`);
  if (kind !== 'reset') return;
  if (!hasBegun && since !== undefined) {
    throw new CliError(exitCodes.notFound, `${place} has no such revision; it is at revision ${revision}`, {
      next: [`See its revisions: keyframe history ${scopeFlags(scope)}`],
    });
  }
  io.warn(
    `the server does not know the last position; ${place} is at revision ${revision}, and changes may be missing`,
  );
}

const maxKeys = 20;
const signs = { added: '+', changed: '~', deleted: '-' } as const;

async function print({ printer }: CommandContext, change: WatchedChangeOutput): Promise<void> {
  const { createdAt, revision, changedByName, comment, keys, revisionId } = change;
  const shown = keys.slice(0, maxKeys).map(({ key, action }) => `${signs[action]}${key}`);
  const rest = keys.length > maxKeys ? [`and ${keys.length - maxKeys} more`] : [];
  const columns = [createdAt, String(revision), changedByName, [...shown, ...rest].join(' '), comment ?? ''];
  await printer.streamed({ value: change, line: columns.join('  ').trimEnd(), name: revisionId });
}
