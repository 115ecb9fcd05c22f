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

/** The named schemas of the OpenAPI document. Generated clients make a type of each. */
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

/** Removes keywords that only zod needs from the schemas of responses: a pattern beside `format`, and default bounds of numbers. */
export const withoutNoise: ZodOpenApiOverride = ({ jsonSchema, io }) => {
  if (io !== 'output') return;
  if (jsonSchema.format === 'uuid' || jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
};
