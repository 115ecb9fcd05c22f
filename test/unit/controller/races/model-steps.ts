import fc from 'fast-check';

/** What happens to the SecretSyncs of the model, one step after another; a failure prints the shortest list of steps. */

export type SyncName = 'app' | 'web';
export type EnvironmentName = 'prod' | 'dev';
/** What a SecretSync asks for: see `specOf`. */
export type Ask =
  'prod' | 'dev' | 'prod at 2' | 'prod and dev' | 'prod by a ServiceToken' | 'prod, keyless' | 'nothing, suspended';
/** A call of the controller, by a pattern of its step. */
export type Place =
  | 'authentication'
  | 'look-up'
  | 'finding a state'
  | 'reading values'
  | 'GET .*secrets/(token|app|web)'
  | '(PUT|POST) .*secrets'
  | 'PATCH .*secretsyncs'
  | 'PATCH .*servicetokens'
  | 'finding a token'
  | 'creating a keyless token'
  | '(minting|activating|suspending|resuming)';

export type Step =
  | { readonly do: 'commit' | 'delete environment' | 'create environment'; readonly environment: EnvironmentName }
  | { readonly do: 'ask'; readonly sync: SyncName; readonly for: Ask }
  | {
      readonly do: 'delete sync' | 'edit secret' | 'delete secret' | 'unlabel secret' | 'consent';
      readonly sync: SyncName;
    }
  | { readonly do: 'delete and ask'; readonly sync: SyncName; readonly for: Ask }
  | { readonly do: 'lose feed' | 'restore feed' | 'hold watches' | 'release watches' | 'lose lease' | 'take lease' }
  | { readonly do: 'revoke token' | 'replace token' | 'withdraw grant' | 'grant' | 'revoke service token' }
  | { readonly do: 'revoke keyless token' | 'reinstate keyless token' }
  | { readonly do: 'fail' | 'pause'; readonly at: Place; readonly moment: 'before' | 'after' }
  | { readonly do: 'resume' | 'settle' | 'rest' }
  | { readonly do: 'run'; readonly turns: number }
  | { readonly do: 'pass'; readonly ms: number };

const sync = fc.constantFrom<SyncName>('app', 'web');
const environment = fc.constantFrom<EnvironmentName>('prod', 'dev');
const ask = fc.constantFrom<Ask>(
  'prod',
  'dev',
  'prod at 2',
  'prod and dev',
  'prod by a ServiceToken',
  'prod, keyless',
  'prod, keyless',
  'nothing, suspended',
);
const place = fc.constantFrom<Place>(
  'authentication',
  'look-up',
  'finding a state',
  'reading values',
  'GET .*secrets/(token|app|web)',
  '(PUT|POST) .*secrets',
  'PATCH .*secretsyncs',
  'PATCH .*servicetokens',
  'finding a token',
  'creating a keyless token',
  '(minting|activating|suspending|resuming)',
);
const moment = fc.constantFrom<'before' | 'after'>('before', 'after');

const alone = <const D extends string>(...names: D[]): fc.Arbitrary<{ do: D }> =>
  fc.constantFrom(...names).map((name) => ({ do: name }));

/** The steps of one run. What matters most comes most often. */
export const anySteps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ do: fc.constant('commit' as const), environment }) },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constantFrom('delete environment', 'create environment'), environment }),
    },
    { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('ask', 'delete and ask'), sync, for: ask }) },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constantFrom('delete sync', 'edit secret', 'edit secret', 'delete secret', 'unlabel secret', 'consent'),
        sync,
      }),
    },
    { weight: 5, arbitrary: alone('lose feed', 'restore feed', 'hold watches', 'release watches') },
    { weight: 2, arbitrary: alone('lose lease', 'take lease', 'take lease') },
    { weight: 4, arbitrary: alone('revoke token', 'replace token', 'replace token', 'withdraw grant', 'grant') },
    { weight: 1, arbitrary: alone('revoke service token') },
    { weight: 3, arbitrary: alone('revoke keyless token', 'reinstate keyless token', 'reinstate keyless token') },
    { weight: 8, arbitrary: fc.record({ do: fc.constantFrom('pause', 'pause', 'fail'), at: place, moment }) },
    { weight: 10, arbitrary: alone('resume', 'settle', 'settle', 'rest') },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('run' as const), turns: fc.integer({ min: 1, max: 60 }) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(300, 1500, 5000) }) },
  ),
  { minLength: 1, maxLength: 40, size: 'max' },
);
