import type { ZodOpenApiOverride } from 'zod-openapi';
import { auditEntryView } from '../../wire/audit.ts';
import { changeView } from '../../wire/changes.ts';
import { memberView } from '../../wire/members.ts';
import { createdPersonalTokenView, personalTokenView } from '../../wire/personal-tokens.ts';
import { problem } from '../../wire/problem.ts';
import { secretView, secretWriteView } from '../../wire/secrets.ts';
import { createdServiceTokenView, serviceTokenView } from '../../wire/service-tokens.ts';
import { placedSnapshotView, restoreView, snapshotView } from '../../wire/snapshots.ts';
import { environmentView, organizationView, projectView } from '../../wire/tenancy.ts';
import { createdUserView, userView } from '../../wire/users.ts';
import { rollbackView, versionView, versionWithValueView } from '../../wire/versions.ts';

/** The schemas that have a name in the OpenAPI document; each stands there once, and generated clients make types of them. */
export const namedSchemas = {
  Problem: problem,
  Organization: organizationView,
  Project: projectView,
  Environment: environmentView,
  Secret: secretView,
  WrittenSecret: secretWriteView,
  SecretVersion: versionView,
  SecretVersionWithValue: versionWithValueView,
  RolledBackSecret: rollbackView,
  Snapshot: snapshotView,
  PlacedSnapshot: placedSnapshotView,
  Restore: restoreView,
  ServiceToken: serviceTokenView,
  CreatedServiceToken: createdServiceTokenView,
  PersonalToken: personalTokenView,
  CreatedPersonalToken: createdPersonalTokenView,
  User: userView,
  CreatedUser: createdUserView,
  Member: memberView,
  Change: changeView,
  AuditEntry: auditEntryView,
};

/** Leaves out of the schemas of answers what only zod needs: expressions for what `format` says, bounds of every number. */
export const withoutNoise: ZodOpenApiOverride = ({ jsonSchema, io }) => {
  if (io !== 'output') return;
  if (jsonSchema.format === 'uuid' || jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
};
