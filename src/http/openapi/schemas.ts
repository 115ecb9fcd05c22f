import { consumerListView, consumerView, fleetConsumerView, fleetView } from '../../wire/consumers.ts';
import type { ZodOpenApiOverride, createDocument } from 'zod-openapi';
import { auditEntryView, auditListView } from '../../wire/audit.ts';
import {
  changeEventView,
  changeListView,
  changeView,
  readyEventView,
  resetEventView,
  revertView,
  streamEventView,
} from '../../wire/changes.ts';
import { approvedLoginView, deviceLoginView, pendingLoginView, waitingDeviceView } from '../../wire/command-logins.ts';
import { copyView } from '../../wire/copies.ts';
import { invitationListView, invitationView } from '../../wire/invitations.ts';
import { identityListView, identityView } from '../../wire/identities.ts';
import { meServiceTokenView, meUserView, meView } from '../../wire/me.ts';
import { memberListView, memberView } from '../../wire/members.ts';
import { passkeyCreationView, passkeyListView, passkeyRequestView, passkeyView } from '../../wire/passkeys.ts';
import { createdPersonalTokenView, personalTokenListView, personalTokenView } from '../../wire/personal-tokens.ts';
import { problem } from '../../wire/problem.ts';
import { roleBindingListView, roleBindingView } from '../../wire/role-bindings.ts';
import {
  listedSecretView,
  listedSecretsView,
  secretPatchView,
  secretView,
  secretWriteView,
} from '../../wire/secrets.ts';
import { sessionListView, sessionView } from '../../wire/sessions.ts';
import { signInView } from '../../wire/sign-in.ts';
import { createdInvitationView, createdLinkView, linkView } from '../../wire/sign-in-links.ts';
import { createdServiceTokenView, serviceTokenListView, serviceTokenView } from '../../wire/service-tokens.ts';
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
  listedOrganizationView,
  organizationListView,
  organizationView,
  projectListView,
  projectView,
  updatedEnvironmentView,
} from '../../wire/tenancy.ts';
import { createdUserView, userListView, userView } from '../../wire/users.ts';
import {
  destroyedVersionView,
  rollbackView,
  versionListView,
  versionView,
  versionWithValueView,
} from '../../wire/versions.ts';
import { waitingRestoreListView, waitingRestoreView } from '../../wire/waiting-restores.ts';

/** The named schemas of the OpenAPI document. Generated clients make a type of each. */
export const namedSchemas = {
  Problem: problem,
  Me: meView,
  MeUser: meUserView,
  MeServiceToken: meServiceTokenView,
  Organization: organizationView,
  ListedOrganization: listedOrganizationView,
  OrganizationList: organizationListView,
  Project: projectView,
  ProjectList: projectListView,
  Environment: environmentView,
  UpdatedEnvironment: updatedEnvironmentView,
  EnvironmentList: environmentListView,
  Consumer: consumerView,
  ConsumerList: consumerListView,
  FleetConsumer: fleetConsumerView,
  Fleet: fleetView,
  WaitingRestore: waitingRestoreView,
  WaitingRestoreList: waitingRestoreListView,
  Secret: secretView,
  ListedSecret: listedSecretView,
  SecretList: listedSecretsView,
  WrittenSecret: secretWriteView,
  PatchedSecrets: secretPatchView,
  SecretVersion: versionView,
  SecretVersionList: versionListView,
  SecretVersionWithValue: versionWithValueView,
  RolledBackSecret: rollbackView,
  DestroyedSecretVersion: destroyedVersionView,
  Snapshot: snapshotView,
  SnapshotList: snapshotListView,
  SnapshotDiff: snapshotDiffView,
  PrunedSnapshots: pruneView,
  PlacedSnapshot: placedSnapshotView,
  Restore: restoreView,
  Copy: copyView,
  ServiceToken: serviceTokenView,
  ServiceTokenList: serviceTokenListView,
  CreatedServiceToken: createdServiceTokenView,
  PersonalToken: personalTokenView,
  PersonalTokenList: personalTokenListView,
  CreatedPersonalToken: createdPersonalTokenView,
  SignIn: signInView,
  ApprovedLogin: approvedLoginView,
  DeviceLogin: deviceLoginView,
  WaitingDevice: waitingDeviceView,
  PendingLogin: pendingLoginView,
  Identity: identityView,
  IdentityList: identityListView,
  Passkey: passkeyView,
  PasskeyList: passkeyListView,
  PasskeyCreation: passkeyCreationView,
  PasskeyRequest: passkeyRequestView,
  Session: sessionView,
  SessionList: sessionListView,
  User: userView,
  UserList: userListView,
  CreatedUser: createdUserView,
  Member: memberView,
  MemberList: memberListView,
  RoleBinding: roleBindingView,
  RoleBindingList: roleBindingListView,
  Invitation: invitationView,
  InvitationList: invitationListView,
  CreatedInvitation: createdInvitationView,
  CreatedSignInLink: createdLinkView,
  SignInLink: linkView,
  Change: changeView,
  ChangeList: changeListView,
  Revert: revertView,
  ChangeStreamEvent: streamEventView,
  ReadyEvent: readyEventView,
  ResetEvent: resetEventView,
  ChangeEvent: changeEventView,
  AuditEntry: auditEntryView,
  AuditEntryList: auditListView,
};

/** Removes keywords that only zod needs from the schemas of responses: a pattern beside `format`, and default bounds of numbers. */
export const withoutNoise: ZodOpenApiOverride = ({ jsonSchema, io }) => {
  if (io !== 'output') return;
  if (jsonSchema.format === 'uuid' || jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
};

type OpenApiDocument = ReturnType<typeof createDocument>;

export const outputIdSuffix = 'AsOutput';

/**
 * Named schemas are responses. The library emits a named schema within another one twice: as input under its name, and as
 * output with the suffix. This keeps the output, under the name.
 */
export function withOutputNames(document: OpenApiDocument): OpenApiDocument {
  const schemas = document.components?.schemas ?? {};
  for (const name of Object.keys(namedSchemas)) {
    const output = schemas[name + outputIdSuffix];
    if (output === undefined) continue;
    schemas[name] = output;
    delete schemas[name + outputIdSuffix];
  }
  const reference = new RegExp(`"#/components/schemas/(\\w+)${outputIdSuffix}"`, 'g');
  return JSON.parse(JSON.stringify(document).replaceAll(reference, '"#/components/schemas/$1"')) as OpenApiDocument;
}
