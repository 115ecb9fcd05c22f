import { call } from '../../../client/call.ts';
import type { SnapshotDiffView } from '../../../wire/snapshots.ts';
import { defineCommand } from '../../core/command.ts';
import { completing, scopeOptions, text } from '../../core/options.ts';
import type { SnapshotDifferenceOutput } from '../../output/shapes.ts';
import type { Cell } from '../../terminal/printer.ts';
import { findSnapshot, findSnapshotIn, snapshotArgument, snapshotParams } from './snapshot-view.ts';

interface Row {
  readonly change: string;
  readonly key: string;
  readonly from: Cell;
  readonly to: Cell;
}

/** `snapshot diff <snapshot>`: keys and versions, never values. */
export const snapshotDiffCommand = defineCommand({
  summary: 'Compare a snapshot with the current state or another snapshot',
  description: 'Shows the changes since the snapshot: keys and versions, no values.',
  arguments: { given: snapshotArgument },
  options: {
    against: completing(
      'snapshot',
      text('--against <snapshot>', 'Another snapshot of the same environment, or current (default: current)'),
    ),
    ...scopeOptions,
  },
  examples: [
    { line: 'snapshot diff before-release', note: 'What changed since the snapshot' },
    { line: 'snapshot diff before-release --against latest', note: 'From one snapshot to another' },
  ],
  async run(context, { args: { given }, options: { against: other, ...flags } }) {
    const snapshot = await findSnapshot(context, given, flags);
    const against = other === undefined || other === 'current' ? other : await findSnapshotIn(context, other, snapshot);
    const request = { params: snapshotParams(snapshot), query: { against } };
    const { body } = await call(context.api(), 'GET /snapshots/{org}/{project}/{env}/{id}/diff', request);
    const { unchanged: unchangedCount, ...diff } = body;
    await context.printer.list({
      value: { ...diff, unchangedCount } satisfies SnapshotDifferenceOutput,
      rows: diffRows(diff),
      columns: [
        { title: 'CHANGE', cell: ({ change }) => change },
        { title: 'KEY', cell: ({ key }) => key },
        { title: 'FROM', cell: ({ from }) => from },
        { title: 'TO', cell: ({ to }) => to },
      ],
      name: ({ key }) => key,
      whenEmpty: `No difference; ${unchangedCount} secrets are the same.`,
    });
    if (context.printer.format === 'table' && diff.destroyed.length > 0) {
      const lost = diff.destroyed.map(({ key, version }) => `${key} v${version}`).join(', ');
      context.io.note(`Destroyed since, so that a restore leaves these as they are: ${lost}`);
    }
  },
});

function diffRows({ added, removed, changed }: Pick<SnapshotDiffView, 'added' | 'removed' | 'changed'>): Row[] {
  const rows: Row[] = [
    ...added.map(({ key, version }) => ({ change: 'added', key, from: null, to: `v${version}` })),
    ...removed.map(({ key, version }) => ({ change: 'removed', key, from: `v${version}`, to: null })),
    ...changed.map(({ key, from, to, valueChanged }) => ({
      change: valueChanged ? 'changed' : 'same value',
      key,
      from: `v${from}`,
      to: `v${to}`,
    })),
  ];
  return rows.sort((left, right) => (left.key < right.key ? -1 : 1));
}
