import { test } from '@jest/globals';
import * as messages from '../../../src/controller/kinds/rollout/messages.ts';
import type { Target } from '../../../src/controller/kinds/rollout/targets.ts';
import { type Samples, expectGolden } from './golden-messages.ts';
import { api, calmFacts, web } from './rollout-facts.ts';

const { held } = calmFacts;
const db: Target = { kind: 'StatefulSet', name: 'db' };
const united = { ...held, revision: 0, label: 'revision 4 of shared and revision 9 of own' };
const crash = messages.containerState('main', 'CrashLoopBackOff');
const progress = messages.podsUpToDate(1, 3);
const denied = '403 Forbidden';

const samples: Samples<typeof messages> = {
  rolloutsDisabled: [messages.rolloutsDisabled],
  suspended: [messages.suspended],
  secretNotSynced: [messages.secretNotSynced],
  allConverged: [messages.allConverged([web, db], held), messages.allConverged([web], united)],
  notConverged: [
    messages.notConverged([
      { target: web, message: messages.rollingOut(progress) },
      { target: db, message: messages.restartSoon(held) },
    ]),
    messages.notConverged(Array.from({ length: 5 }, () => ({ target: web, message: messages.unseen }))),
    messages.notConverged(Array.from({ length: 6 }, () => ({ target: web, message: messages.unseen }))),
  ],
  forbidden: [messages.forbidden],
  unseen: [messages.unseen],
  notFound: [messages.notFound],
  rollingOut: [messages.rollingOut(progress)],
  waiting: [messages.waiting(progress)],
  stuck: [messages.stuck(progress, messages.causeUnknown('ns')), messages.stuck(progress, crash, '10m')],
  restartNow: [messages.restartNow(held)],
  restartSoon: [messages.restartSoon(held)],
  restartAfterRead: [messages.restartAfterRead(held, db)],
  restartAfterRollout: [messages.restartAfterRollout(held, '10m', progress)],
  restartBlocked: [
    messages.restartBlocked(held, messages.failedBefore(api, 6, crash)),
    messages.restartBlocked(united, messages.restartedBefore(api, progress)),
  ],
  failedBefore: [messages.failedBefore(api, 6, crash), messages.failedBefore(api, 0, undefined)],
  restartedBefore: [messages.restartedBefore(api, progress)],
  restartRefused: [messages.restartRefused(denied)],
  restartUndone: [messages.restartUndone('app', 3)],
  changeUnobserved: [messages.changeUnobserved],
  podsUpToDate: [progress],
  heldBy: [messages.heldBy(progress, messages.onDelete)],
  deadlineOver: [messages.deadlineOver(progress)],
  paused: [messages.paused('web', 'ns')],
  onDelete: [messages.onDelete],
  partitioned: [messages.partitioned(2)],
  convergedBefore: [messages.convergedBefore],
  templateChanged: [messages.templateChanged],
  noPodFails: [messages.noPodFails],
  podState: [messages.podState('Unschedulable')],
  containerState: [crash],
  podsForbidden: [messages.podsForbidden(denied)],
  failureOf: [messages.failureOf(web, crash)],
  causeUnknown: [messages.causeUnknown('ns')],
  notTheData: [
    messages.notTheData(messages.templateChanged, 'Hold', 'ns'),
    messages.notTheData(messages.noPodFails, 'Rollback', 'ns'),
  ],
  othersWait: [messages.othersWait(crash, 'ns')],
  rollbackImpossible: [
    messages.rollbackImpossible(crash, messages.neverConverged, 'ns'),
    messages.rollbackImpossible(messages.podsForbidden(denied), messages.podsUnseen, 'ns'),
  ],
  rollbackDue: [messages.rollbackDue(crash)],
  podsUnseen: [messages.podsUnseen],
  neverConverged: [messages.neverConverged],
  notAmongConverged: [messages.notAmongConverged(db)],
  podsInspected: [messages.podsInspected],
  podsNotInspected: [messages.podsNotInspected],
  restarted: [messages.restarted],
  notRestarted: [messages.notRestarted],
};

test('every message of a rollout is in its golden file', () => {
  expectGolden('rollout', [[messages, samples]]);
});
