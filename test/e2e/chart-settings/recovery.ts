import { expect } from '@jest/globals';
import type { Setting } from './setting.ts';

/** The values of the backup of the chart's own PostgreSQL, and of the recovery of a restored database. */

const backedUp = { 'postgres.backup.enabled': true };
const backup = 'CronJob/keyframe-backup spec';
const backupPod = `${backup}.jobTemplate.spec.template.spec`;
const backupClaim = 'PersistentVolumeClaim/keyframe-backup spec';
const recovering = { 'recovery.enabled': true };
const recovered = 'Job/keyframe-recovered spec.template.spec.initContainers[recovered].args';

export const recoverySettings: readonly Setting[] = [
  {
    value: 'postgres.backup.enabled',
    set: true,
    shows: {
      [`${backup}.concurrencyPolicy`]: 'Forbid',
      [`${backupPod}.containers[backup].command[2]`]: expect.stringContaining('pg_dump --format=custom'),
      'PersistentVolumeClaim/keyframe-backup metadata.annotations': {
        'helm.sh/resource-policy': 'keep',
        'argocd.argoproj.io/sync-options': 'Prune=false',
        'kustomize.toolkit.fluxcd.io/prune': 'disabled',
      },
      'NetworkPolicy/keyframe-postgres spec.ingress[0].from[1].podSelector.matchLabels': expect.objectContaining({
        'app.kubernetes.io/component': 'backup',
      }),
    },
  },
  {
    value: 'postgres.backup.schedule',
    set: '15 2 * * 0',
    given: backedUp,
    shows: { [`${backup}.schedule`]: '15 2 * * 0' },
  },
  {
    value: 'postgres.backup.keep',
    set: 60,
    given: backedUp,
    shows: { [`${backupPod}.containers[backup].env[KEEP].value`]: '60' },
  },
  {
    value: 'postgres.backup.storage',
    set: '3Gi',
    given: backedUp,
    shows: { [`${backupClaim}.resources.requests.storage`]: '3Gi' },
  },
  {
    value: 'postgres.backup.storageClass',
    set: 'slow',
    given: backedUp,
    shows: { [`${backupClaim}.storageClassName`]: 'slow' },
  },
  {
    value: 'postgres.backup.existingClaim',
    set: 'dumps',
    given: backedUp,
    shows: {
      [`${backupPod}.volumes[backup].persistentVolumeClaim.claimName`]: 'dumps',
      [`${backupClaim}.accessModes`]: undefined,
    },
  },
  {
    value: 'recovery.enabled',
    set: true,
    given: { 'autoscaling.enabled': true },
    shows: {
      [recovered]: ['recovered', '--token-file', '/run/recovery/token'],
      'Deployment/keyframe spec.replicas': 0,
      'Deployment/keyframe-controller spec.replicas': 0,
      'HorizontalPodAutoscaler/keyframe spec': undefined,
      'PodDisruptionBudget/keyframe-controller spec': undefined,
      'NetworkPolicy/keyframe-postgres spec.ingress[0].from[1].podSelector.matchLabels': expect.objectContaining({
        'app.kubernetes.io/component': 'recovery',
      }),
    },
  },
  {
    value: 'recovery.admin',
    set: 'ann@keyframe.test',
    given: recovering,
    shows: { [recovered]: expect.arrayContaining(['--admin', 'ann@keyframe.test']) },
  },
  {
    value: 'recovery.before',
    set: '2027-01-31T12:00:00Z',
    given: recovering,
    shows: { [recovered]: expect.arrayContaining(['--before', '2027-01-31T12:00:00Z']) },
  },
  {
    value: 'recovery.newInstance',
    set: true,
    given: recovering,
    shows: { [recovered]: expect.arrayContaining(['--new-instance']) },
  },
];
