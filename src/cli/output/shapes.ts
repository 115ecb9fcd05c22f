import { z } from 'zod';
import { auditListView } from '../../wire/audit.ts';
import { changeListView, changeView, revertView } from '../../wire/changes.ts';
import {
  clusterListView,
  clusterRulesListView,
  clusterRulesView,
  clusterView,
  forgottenClusterView,
} from '../../wire/clusters.ts';
import { consumerListView, consumerView } from '../../wire/consumers.ts';
import { copyView } from '../../wire/copies.ts';
import { jwtExplanationView } from '../../wire/federation.ts';
import { identityListView } from '../../wire/identities.ts';
import { invitationListView, invitationView } from '../../wire/invitations.ts';
import { createdInvitationView, createdLinkView } from '../../wire/sign-in-links.ts';
import { meView } from '../../wire/me.ts';
import { memberListView, memberView } from '../../wire/members.ts';
import { passkeyListView, passkeyView } from '../../wire/passkeys.ts';
import { createdPersonalTokenView, personalTokenListView } from '../../wire/personal-tokens.ts';
import { problem } from '../../wire/problem.ts';
import { roleBindingListView, roleBindingView } from '../../wire/role-bindings.ts';
import { deletedSecretListView, secretKeyView, secretPatchView, secretView } from '../../wire/secrets.ts';
import { sessionListView } from '../../wire/sessions.ts';
import { signInView } from '../../wire/sign-in.ts';
import {
  createdFederatedTokenView,
  createdServiceTokenView,
  serviceTokenListView,
  serviceTokenView,
} from '../../wire/service-tokens.ts';
import {
  placedSnapshotView,
  pruneView,
  restoreView,
  snapshotDiffView,
  snapshotListView,
  snapshotView,
} from '../../wire/snapshots.ts';
import {
  environmentListView,
  environmentView,
  updatedEnvironmentView,
  organizationListView,
  organizationView,
  projectListView,
  projectView,
} from '../../wire/tenancy.ts';
import { issuerNameListView, trustedIssuerListView, trustedIssuerView } from '../../wire/trusted-issuers.ts';
import { createdUserView, userListView, userView } from '../../wire/users.ts';
import { destroyedVersionView, rollbackView, versionListView, versionView } from '../../wire/versions.ts';

/**
 * What --output json prints: one shape for each thing. `npm run generate` writes them as JSON Schemas to docs/cli-output.
 * Commands import types only, because zod takes long to load.
 */

const keys = z.array(z.string());
const revisionFields = { revision: z.int(), revisionId: z.guid() };
/** Absent where a terminal hides it. */
const value = z.string().exactOptional();
const secret = z.strictObject({ ...secretView.shape, value });
/** Without values, a server says who made each version; an older one does not. */
const listedSecret = secret.extend({
  updatedBy: secretKeyView.shape.updatedBy.exactOptional(),
  updatedByType: secretKeyView.shape.updatedByType.exactOptional(),
  updatedByName: secretKeyView.shape.updatedByName.exactOptional(),
  updatedByCluster: secretKeyView.shape.updatedByCluster,
});
const pastSecret = z.strictObject({ ...versionView.shape, ...secret.shape });

const differenceFields = { added: keys, changed: keys, removed: keys, unchanged: keys };
const difference = z.strictObject({
  ...differenceFields,
  /** With --reveal: both values of each key that differs. */
  values: z
    .array(z.strictObject({ key: z.string(), from: z.string().nullable(), to: z.string().nullable() }))
    .exactOptional(),
});

const push = z.strictObject({
  dryRun: z.boolean(),
  ...differenceFields,
  kept: keys.meta({ description: 'Keys that are not in the file and stay' }),
  warnings: z.array(z.strictObject({ line: z.int(), key: z.string(), message: z.string() })),
  set: secretPatchView.shape.set.meta({ description: 'What was written; empty with --dry-run' }),
  deleted: keys.meta({ description: 'What was deleted; empty with --dry-run' }),
  ...revisionFields,
});

const { unchanged: unchangedCount, ...snapshotDifferenceFields } = snapshotDiffView.shape;

const deletion = z.strictObject({
  kind: z.enum([
    'organization',
    'project',
    'environment',
    'snapshot',
    'member',
    'role',
    'invitation',
    'service_token',
    'personal_token',
    'session',
    'passkey',
    'identity',
    'trusted_issuer',
  ]),
  action: z.enum(['deleted', 'purged', 'removed', 'revoked', 'ended', 'declined', 'withdrawn']),
  id: z.guid().nullable(),
  name: z.string().nullable().meta({ description: 'Slug, name or e-mail address, as far as it is known' }),
});

const folder = z.strictObject({
  path: z.string(),
  isTrusted: z.boolean(),
  url: z.string().exactOptional(),
  organization: z.string().exactOptional(),
  project: z.string().exactOptional(),
  environment: z.string().exactOptional(),
  variables: keys.exactOptional().meta({ description: 'The variables that programs get' }),
});

const session = z.strictObject({
  url: z.string().nullable(),
  path: z.string().meta({ description: 'The file that stores the token' }),
  isTokenStored: z.boolean(),
});

const signInList = z.strictObject({
  signIns: z.array(
    z.strictObject({
      profile: z.string().nullable().meta({ description: 'The name; null for the sign-in of a server' }),
      url: z.string().nullable(),
      isDefault: z.boolean().meta({ description: 'Used if nothing names a server or profile' }),
    }),
  ),
});

const watchedChange = z.strictObject({
  ...changeView.shape,
  keys: z.array(
    z.strictObject({
      key: z.string(),
      version: z.int().nullable().meta({ description: 'The new version; null if the key was deleted' }),
      action: z.enum(['added', 'changed', 'deleted']),
    }),
  ),
});

const { cluster, uid, namespace, name, source } = consumerView.shape;
const reachedRevision = z.strictObject({
  ...revisionFields,
  consumers: z
    .strictObject({
      reached: z.int().meta({ description: 'How many have the revision or a later one' }),
      exempt: z
        .array(z.strictObject({ cluster, uid, namespace, name, source, why: z.enum(['pinned', 'suspended']) }))
        .meta({ description: 'Those that were not waited for' }),
    })
    .exactOptional()
    .meta({ description: 'With --converged' }),
});

const problemOutput = z.strictObject({
  ...problem.partial({ status: true, instance: true }).shape,
  type: z.string(),
  exitCode: z.int(),
  next: z.array(z.string()).meta({ description: 'What to do next, for people' }),
});

const selectedSlug = z.strictObject({ slug: z.string(), source: z.string() }).nullable();

const status = z.strictObject({
  command: z.strictObject({ version: z.string() }),
  server: z.strictObject({
    url: z.string().nullable(),
    source: z.string().nullable().meta({ description: 'The setting that names the server' }),
    proxy: z.strictObject({ url: z.string(), source: z.string() }).nullable().meta({
      description: 'The proxy before the server, without its user and password, and the variable that names it',
    }),
    isReachable: z.boolean(),
    isReady: z.boolean().nullable().meta({ description: 'null if the server was not reached, or does not say' }),
    reason: z.string().nullable().meta({ description: 'Why it is not ready' }),
    version: z
      .string()
      .nullable()
      .meta({ description: 'null without a valid token, or if the server is too old to say' }),
  }),
  profile: z.string().nullable(),
  tokenSource: z.string().nullable().meta({ description: 'The setting that holds the token; null if there is none' }),
  identity: meView.nullable(),
  folder: z.strictObject({ path: z.string(), trust: z.enum(['trusted', 'untrusted', 'changed']) }).nullable(),
  selected: z
    .strictObject({ organization: selectedSlug, project: selectedSlug, environment: selectedSlug })
    .meta({ description: 'What commands use, and the setting that names it' }),
  environment: z
    .strictObject({
      organization: z.string(),
      project: z.string(),
      environment: z.string(),
      revision: z.int().nullable(),
      revisionId: z.guid().nullable(),
    })
    .nullable()
    .meta({ description: 'null if not all of its slugs are selected' }),
  problems: z.array(problemOutput).meta({ description: 'The first one determines the exit code' }),
});

/** All shapes, by the names of their files. */
export const shapes = {
  'audit-list': auditListView,
  change: secretPatchView,
  'consumer-list': consumerListView,
  cluster: clusterView,
  'cluster-list': clusterListView,
  'cluster-rules': clusterRulesView,
  'cluster-rules-list': clusterRulesListView,
  copy: copyView,
  'forgotten-cluster': forgottenClusterView,
  'deleted-secret-list': deletedSecretListView,
  deletion,
  difference,
  'destroyed-version': z.strictObject({ key: z.string(), ...destroyedVersionView.shape }),
  environment: environmentView,
  'environment-list': environmentListView,
  folder,
  identity: meView,
  'identity-list': identityListView,
  invitation: invitationView,
  'invitation-list': invitationListView,
  'issuer-name-list': issuerNameListView,
  member: memberView,
  'member-list': memberListView,
  'new-invitation': createdInvitationView,
  'new-personal-token': createdPersonalTokenView,
  'jwt-explanation': jwtExplanationView,
  'new-federated-token': createdFederatedTokenView,
  'new-service-token': createdServiceTokenView,
  'new-sign-in-link': createdLinkView,
  'new-user': createdUserView,
  organization: organizationView,
  'organization-list': organizationListView,
  passkey: passkeyView,
  'passkey-list': passkeyListView,
  'past-secret': pastSecret,
  'browser-session-list': sessionListView,
  'personal-token-list': personalTokenListView,
  'placed-snapshot': placedSnapshotView,
  problem: problemOutput,
  project: projectView,
  'protected-environment': updatedEnvironmentView,
  'project-list': projectListView,
  prune: pruneView,
  push,
  'reached-revision': reachedRevision,
  restore: restoreView,
  revert: revertView,
  'revision-list': changeListView,
  rollback: z.strictObject({ key: z.string(), ...rollbackView.shape }),
  role: roleBindingView,
  'role-list': roleBindingListView,
  secret,
  'secret-list': z.strictObject({ secrets: z.array(listedSecret), ...revisionFields }),
  'service-token': serviceTokenView,
  'service-token-list': serviceTokenListView,
  session,
  'sign-in-list': signInList,
  'sign-in-state': signInView,
  snapshot: snapshotView,
  'snapshot-difference': z.strictObject({ ...snapshotDifferenceFields, unchangedCount }),
  'snapshot-list': snapshotListView,
  status,
  'trusted-issuer': trustedIssuerView,
  'trusted-issuer-list': trustedIssuerListView,
  user: userView,
  'user-list': userListView,
  version: z.strictObject({ version: z.string() }),
  'version-list': versionListView,
  warning: z.strictObject({ warning: z.string() }),
  'watched-change': watchedChange,
} as const satisfies Readonly<Record<string, z.ZodType>>;

export type ShapeName = keyof typeof shapes;
export type DeletionOutput = z.infer<typeof deletion>;
export type DifferenceOutput = z.infer<typeof difference>;
export type FolderOutput = z.infer<typeof folder>;
export type ProblemOutput = z.infer<typeof problemOutput>;
export type PushOutput = z.infer<typeof push>;
export type SessionOutput = z.infer<typeof session>;
export type SignInListOutput = z.infer<typeof signInList>;
export type StatusOutput = z.infer<typeof status>;
export type SnapshotDifferenceOutput = z.infer<(typeof shapes)['snapshot-difference']>;
export type WatchedChangeOutput = z.infer<typeof watchedChange>;
export type ReachedRevisionOutput = z.infer<(typeof shapes)['reached-revision']>;
