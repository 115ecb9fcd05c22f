/** @default Argo CD, Flux and kstatus judge our conditions correctly. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { type ReadyClaim, conditionClaims, mergeConditions } from '../../src/controller/frame/conditions.ts';
import { errorCatalogue } from '../../src/domain/errors/catalogue.ts';
import { adminClient, createNamespace, discardNamespace } from '../support/cluster/cluster.ts';
import { type Health, ToolHealth, type Verdicts, documentedCustomizations } from '../support/cluster/tool-health.ts';
import { fencedBlocks, readPage } from '../support/fixtures/documentation.ts';
import { type GoldenState, goldenStates, resourceIn } from '../support/fixtures/golden-states.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/**
 * What Flux and Argo CD say of conditions as the controller makes them: kstatus and Argo CD's health checks are the tools' own
 * code, with the settings of docs/gitops.md. The expressions for Flux are judged by the CEL of an API server.
 */

let tools: ToolHealth;

beforeAll(async () => {
  tools = await ToolHealth.open();
});

interface State {
  readonly claim?: ReadyClaim;
  /** Of the spec; the status describes the first one. */
  readonly generation?: number;
  readonly spec?: object;
  readonly deletionTimestamp?: string;
}

/** A resource with the status that the controller gives it. */
function resource({ claim, generation = 1, spec = {}, deletionTimestamp }: State): object {
  const now = '2027-01-31T12:00:00Z';
  const conditions = claim && mergeConditions(conditionClaims(claim), { present: [], known: [], generation: 1, now });
  return {
    apiVersion: 'keyframe.dev/v1alpha1',
    kind: 'SecretSync',
    metadata: { name: 'web', namespace: 'shop', generation, deletionTimestamp },
    spec,
    status: conditions && { observedGeneration: 1, conditions },
  };
}

const done: ReadyClaim = { progress: 'done', reason: 'Synced', message: 'Secret web holds revision 7.' };
const waiting: ReadyClaim = { progress: 'waiting', reason: 'AccessDenied', message: 'No AccessGrant allows it.' };
const stalled: ReadyClaim = { progress: 'stalled', reason: 'KeyConflict', message: 'Exclude one of the keys.' };
const suspended: ReadyClaim = { progress: 'suspended', reason: 'Suspended', message: 'spec.suspend is true.' };
const waits = { status: 'Progressing', message: 'Waiting for the controller' };

describe('the health check of docs/gitops.md for Argo CD', () => {
  const cases: readonly (readonly [name: string, state: State, health: Health])[] = [
    ['one that the controller has not seen', {}, waits],
    ['one that is ready', { claim: done }, { status: 'Healthy', message: done.message }],
    ['one that waits for something', { claim: waiting }, { status: 'Progressing', message: waiting.message }],
    ['one that is stalled', { claim: stalled }, { status: 'Degraded', message: stalled.message }],
    ['a ready one whose spec has changed since', { claim: done, generation: 2 }, waits],
    ['a stalled one whose spec has changed since', { claim: stalled, generation: 2 }, waits],
    [
      'a suspended one',
      { claim: suspended, spec: { suspend: true } },
      { status: 'Suspended', message: 'spec.suspend is true' },
    ],
    ['one that is no longer suspended', { claim: suspended, generation: 2, spec: { suspend: false } }, waits],
    [
      'one that is being deleted',
      { claim: done, deletionTimestamp: '2027-01-31T12:00:00Z' },
      { status: 'Progressing', message: 'Pending deletion' },
    ],
  ];

  test.each(cases)('%s', async (_, state, health) => {
    expect((await tools.of(resource(state))).argo).toEqual(health);
  });

  test('is one for all our kinds', () => {
    expect(Object.keys(parse(documentedCustomizations()) as object)).toEqual(['keyframe.dev/*']);
  });
});

interface Judged {
  readonly state: GoldenState;
  readonly verdicts: Verdicts;
}

/** Every state that a kind can be in, as the tools judge it after this time. */
async function judgedAfter(elapsedMs: number): Promise<readonly Judged[]> {
  const states = goldenStates();
  const verdicts = await tools.ofAll(states.map((state) => resourceIn(state, elapsedMs)));
  expect(verdicts).toHaveLength(states.length);
  return verdicts.map((of, index) => ({ state: states[index] as GoldenState, verdicts: of }));
}

/** Of which states the tools say something else than expected: kind, reason and the two verdicts. */
function deviations(judged: readonly Judged[], expected: (state: GoldenState) => readonly string[]): string[] {
  return judged.flatMap(({ state, verdicts: { kstatus, argo } }) => {
    const said = [kstatus.status, argo.status].join(' ');
    return expected(state).includes(said) ? [] : [`${state.kind} ${state.claim.reason}: ${said}`];
  });
}

const good = 'Current Healthy';
const inProgress = 'InProgress Progressing';
const broken = 'Failed Degraded';
const off = 'Failed Suspended';

describe('kstatus and Argo CD, of each kind with each reason', () => {
  test('say at first whether it is good, under way or a fault that only a person can fix', async () => {
    const judged = await judgedAfter(0);
    expect(judged.length).toBeGreaterThan(400);
    const expected: Readonly<Record<ReadyClaim['progress'], string>> = {
      done: good,
      waiting: inProgress,
      reconciling: inProgress,
      stalled: broken,
      suspended: off,
    };
    expect(deviations(judged, ({ claim }) => [expected[claim.progress]])).toEqual([]);
    // By the catalogue: what waits for others or is retried is under way, and everything else is a fault.
    const byCatalogue = judged.filter(({ state }) => state.code !== undefined);
    const effects = { stall: broken, block: broken, wait: inProgress, retry: inProgress };
    const effectOf = ({ code }: GoldenState): string => effects[errorCatalogue[code ?? 'internal'].effect];
    expect(deviations(byCatalogue, (state) => [effectOf(state)])).toEqual([]);
  });

  test('have nothing in progress a day later, and repeat what the controller says', async () => {
    const judged = await judgedAfter(86_400_000);
    expect(deviations(judged, ({ claim: { progress } }) => (progress === 'done' ? [good] : [broken, off]))).toEqual([]);
    const silent = judged.filter(({ state: { claim }, verdicts: { argo, kstatus } }) => {
      const said = claim.progress === 'suspended' || claim.progress === 'done' ? [] : [argo.message, kstatus.message];
      return said.some((message) => message !== claim.message);
    });
    expect(silent.map(({ state }) => `${state.kind} ${state.claim.reason}`)).toEqual([]);
  });

  test('take what is being deleted for neither good nor failed', async () => {
    const { kstatus, argo } = await tools.of(resource({ claim: stalled, deletionTimestamp: '2027-01-31T12:00:00Z' }));
    expect([kstatus.status, argo.status]).toEqual(['Terminating', 'Progressing']);
  });
});

interface HealthCheckExpression {
  readonly kind: string;
  readonly failed: string;
  readonly current: string;
}

const expressions = fencedBlocks(readPage('docs/gitops.md'), 'yaml')
  .filter(({ text }) => text.includes('healthCheckExprs:'))
  .flatMap(
    ({ text }) => (parse(text) as { spec: { healthCheckExprs: HealthCheckExpression[] } }).spec.healthCheckExprs,
  );

const collection = (namespace: string): string => `/apis/keyframe.dev/v1alpha1/namespaces/${namespace}/secretsyncs`;

/** Has the API server refuse statuses of SecretSyncs in a namespace of their own for which an expression does not hold. */
async function requireStatus(namespace: string, expression: string): Promise<void> {
  const group = 'admissionregistration.k8s.io';
  const path = `/apis/${group}/v1/validatingadmissionpolic`;
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
  const rule = {
    apiGroups: ['keyframe.dev'],
    apiVersions: ['*'],
    operations: ['UPDATE'],
    resources: ['secretsyncs/status'],
  };
  // Flux hands the object's fields over by their names, an admission policy the object.
  const validations = [{ expression: expression.replaceAll(/(?<![\w.])(status|metadata)(?=\.)/g, 'object.$1') }];
  const matchConstraints = { namespaceSelector, resourceRules: [rule] };
  const specs = [
    [`${path}ies`, { failurePolicy: 'Fail', matchConstraints, validations }],
    [`${path}ybindings`, { policyName: namespace, validationActions: ['Deny'] }],
  ] as const;
  for (const [collectionPath, spec] of specs) {
    await adminClient().json({ method: 'POST', path: collectionPath, body: { metadata: { name: namespace }, spec } });
  }
}

async function removeRequirement(namespace: string): Promise<void> {
  for (const kind of ['validatingadmissionpolicybindings', 'validatingadmissionpolicies']) {
    await adminClient().json({ method: 'DELETE', path: `/apis/admissionregistration.k8s.io/v1/${kind}/${namespace}` });
  }
}

/** Whether the status that the controller gives in this state is accepted; nothing is kept of it. */
async function isAccepted(namespace: string, { claim, generation = 1 }: State): Promise<boolean> {
  const { status } = resource(claim === undefined ? {} : { claim }) as { status?: object };
  const answer = await adminClient().send({
    method: 'PATCH',
    path: `${collection(namespace)}/generation-${generation}/status?dryRun=All`,
    contentType: 'application/merge-patch+json',
    body: { metadata: { annotations: { asked: 'x' } }, ...(status === undefined ? {} : { status }) },
  });
  expect([200, 422]).toContain(answer.status);
  return answer.status === 200;
}

async function makeSyncs(namespace: string): Promise<void> {
  const client = adminClient();
  const spec = { environmentRef: { organization: 'acme', project: 'web', name: 'production' } };
  for (const name of ['generation-1', 'generation-2']) {
    const body = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SecretSync', metadata: { name }, spec };
    await client.json({ method: 'POST', path: collection(namespace), body });
  }
  const contentType = 'application/merge-patch+json';
  const path = `${collection(namespace)}/generation-2`;
  await client.json({ method: 'PATCH', path, contentType, body: { spec: { suspend: true } } });
}

describe('the health checks of docs/gitops.md for Flux', () => {
  const [first] = expressions;
  const states: Readonly<Record<string, State>> = {
    unseen: {},
    ready: { claim: done },
    waiting: { claim: waiting },
    stalled: { claim: stalled },
    suspended: { claim: suspended },
    'ready, with a newer spec': { claim: done, generation: 2 },
    'stalled, with a newer spec': { claim: stalled, generation: 2 },
  };

  test.each([
    ['current', ['ready'], waiting],
    ['failed', ['stalled', 'suspended'], done],
  ] as const)('«%s» holds of what is %j alone', async (name, held, refused) => {
    const namespace = await createNamespace();
    await makeSyncs(namespace);
    await requireStatus(namespace, first?.[name] ?? '');
    try {
      await waitFor('the policy to hold', async () => !(await isAccepted(namespace, { claim: refused })));
      const found: string[] = [];
      for (const [state, given] of Object.entries(states)) if (await isAccepted(namespace, given)) found.push(state);
      expect(found).toEqual(held);
    } finally {
      await removeRequirement(namespace);
      await discardNamespace(namespace);
    }
  });

  test('are the same for every kind', () => {
    expect(expressions.map(({ kind }) => kind)).toEqual(['SecretSync', 'ServiceToken']);
    for (const { failed, current } of expressions)
      expect({ failed, current }).toEqual({ failed: first?.failed, current: first?.current });
  });
});
