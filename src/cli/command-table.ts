import type { CommandEntry, CommandSection } from './core/command-section.ts';

type TenantKind = 'org' | 'project' | 'env';

/** Organizations, projects and environments have these commands in common. */
function tenantCommands(kind: TenantKind): CommandEntry[] {
  return [
    { name: 'list', load: async () => (await import('./commands/tenant/list.ts')).tenantListCommand(kind) },
    { name: 'create', load: async () => (await import('./commands/tenant/create.ts')).tenantCreateCommand(kind) },
    { name: 'show', load: async () => (await import('./commands/tenant/show.ts')).tenantShowCommand(kind) },
    { name: 'rename', load: async () => (await import('./commands/tenant/rename.ts')).tenantRenameCommand(kind) },
    { name: 'delete', load: async () => (await import('./commands/tenant/delete.ts')).tenantDeleteCommand(kind) },
    { name: 'undelete', load: async () => (await import('./commands/tenant/undelete.ts')).tenantUndeleteCommand(kind) },
    { name: 'purge', load: async () => (await import('./commands/tenant/purge.ts')).tenantPurgeCommand(kind) },
  ];
}

/**
 * The name of every command and its module, which is loaded when the command is used. The module contains the rest. The
 * help lists commands in this order, with the summaries of generated/summaries.ts.
 */
export const commandTable: readonly CommandSection[] = [
  {
    title: 'Secrets',
    entries: [
      { name: 'list', load: async () => (await import('./commands/secret/list.ts')).listCommand },
      { name: 'get', load: async () => (await import('./commands/secret/get.ts')).getCommand },
      { name: 'set', load: async () => (await import('./commands/secret/set.ts')).setCommand },
      { name: 'edit', load: async () => (await import('./commands/secret/edit.ts')).editCommand },
      { name: 'rotate', load: async () => (await import('./commands/secret/rotate.ts')).rotateCommand },
      { name: 'unset', load: async () => (await import('./commands/secret/unset.ts')).unsetCommand },
      { name: 'push', load: async () => (await import('./commands/secret/push.ts')).pushCommand },
      { name: 'pull', load: async () => (await import('./commands/secret/pull.ts')).pullCommand },
      { name: 'run', load: async () => (await import('./commands/secret/run.ts')).runCommand },
      { name: 'diff', load: async () => (await import('./commands/secret/diff.ts')).diffCommand },
      { name: 'promote', load: async () => (await import('./commands/secret/promote.ts')).promoteCommand },
    ],
  },
  {
    title: 'History',
    entries: [
      { name: 'versions', load: async () => (await import('./commands/secret/versions.ts')).versionsCommand },
      { name: 'rollback', load: async () => (await import('./commands/secret/rollback.ts')).rollbackCommand },
      { name: 'undo', load: async () => (await import('./commands/secret/undo.ts')).undoCommand },
      { name: 'destroy', load: async () => (await import('./commands/secret/destroy.ts')).destroyCommand },
      { name: 'history', load: async () => (await import('./commands/secret/history.ts')).historyCommand },
      { name: 'watch', load: async () => (await import('./commands/change/watch.ts')).watchCommand },
      { name: 'wait', load: async () => (await import('./commands/change/wait.ts')).waitCommand },
      { name: 'consumers', load: async () => (await import('./commands/consumer/list.ts')).consumersCommand },
      {
        name: 'snapshot',
        summary: 'Capture and restore the state of an environment',
        commands: [
          { name: 'create', load: async () => (await import('./commands/snapshot/create.ts')).snapshotCreateCommand },
          { name: 'list', load: async () => (await import('./commands/snapshot/list.ts')).snapshotListCommand },
          { name: 'show', load: async () => (await import('./commands/snapshot/show.ts')).snapshotShowCommand },
          { name: 'diff', load: async () => (await import('./commands/snapshot/diff.ts')).snapshotDiffCommand },
          {
            name: 'restore',
            load: async () => (await import('./commands/snapshot/restore.ts')).snapshotRestoreCommand,
          },
          { name: 'delete', load: async () => (await import('./commands/snapshot/delete.ts')).snapshotDeleteCommand },
          { name: 'prune', load: async () => (await import('./commands/snapshot/prune.ts')).snapshotPruneCommand },
        ],
      },
      { name: 'audit', load: async () => (await import('./commands/audit/read.ts')).auditCommand },
    ],
  },
  {
    title: 'Access',
    entries: [
      { name: 'login', load: async () => (await import('./commands/sign-in/login.ts')).loginCommand },
      { name: 'logout', load: async () => (await import('./commands/sign-in/logout.ts')).logoutCommand },
      { name: 'whoami', load: async () => (await import('./commands/sign-in/whoami.ts')).whoamiCommand },
      {
        name: 'token',
        summary: 'Manage service tokens and personal tokens',
        commands: [
          { name: 'set', load: async () => (await import('./commands/token/set.ts')).tokenSetCommand },
          {
            name: 'create-service',
            load: async () => (await import('./commands/token/create-service.ts')).tokenCreateServiceCommand,
          },
          {
            name: 'list-service',
            load: async () => (await import('./commands/token/list-service.ts')).tokenListServiceCommand,
          },
          {
            name: 'show-service',
            load: async () => (await import('./commands/token/show-service.ts')).tokenShowServiceCommand,
          },
          {
            name: 'rotate-service',
            load: async () => (await import('./commands/token/rotate-service.ts')).tokenRotateServiceCommand,
          },
          {
            name: 'revoke-service',
            load: async () => (await import('./commands/token/revoke-service.ts')).tokenRevokeServiceCommand,
          },
          {
            name: 'reinstate',
            load: async () => (await import('./commands/token/reinstate.ts')).tokenReinstateCommand,
          },
          {
            name: 'accept-issuer',
            load: async () => (await import('./commands/token/accept-issuer.ts')).tokenAcceptIssuerCommand,
          },
          { name: 'explain', load: async () => (await import('./commands/token/explain.ts')).tokenExplainCommand },
          { name: 'create', load: async () => (await import('./commands/token/create.ts')).tokenCreateCommand },
          { name: 'list', load: async () => (await import('./commands/token/list.ts')).tokenListCommand },
          { name: 'revoke', load: async () => (await import('./commands/token/revoke.ts')).tokenRevokeCommand },
        ],
      },
      {
        name: 'session',
        summary: 'Manage the browsers in which users are signed in',
        commands: [
          { name: 'list', load: async () => (await import('./commands/session/list.ts')).sessionListCommand },
          { name: 'end', load: async () => (await import('./commands/session/end.ts')).sessionEndCommand },
        ],
      },
      {
        name: 'passkey',
        summary: 'Manage the passkeys with which users sign in',
        commands: [
          { name: 'list', load: async () => (await import('./commands/passkey/list.ts')).passkeyListCommand },
          { name: 'remove', load: async () => (await import('./commands/passkey/remove.ts')).passkeyRemoveCommand },
          { name: 'confirm', load: async () => (await import('./commands/passkey/confirm.ts')).passkeyConfirmCommand },
        ],
      },
      {
        name: 'identity',
        summary: 'Manage the accounts of OpenID Connect with which users sign in',
        commands: [
          { name: 'list', load: async () => (await import('./commands/identity/list.ts')).identityListCommand },
          { name: 'remove', load: async () => (await import('./commands/identity/remove.ts')).identityRemoveCommand },
        ],
      },
      {
        name: 'member',
        summary: 'Manage the members of an organization',
        commands: [
          { name: 'list', load: async () => (await import('./commands/member/list.ts')).memberListCommand },
          { name: 'set', load: async () => (await import('./commands/member/set.ts')).memberSetCommand },
          { name: 'remove', load: async () => (await import('./commands/member/remove.ts')).memberRemoveCommand },
          {
            name: 'appoint-owner',
            load: async () => (await import('./commands/member/appoint-owner.ts')).memberAppointOwnerCommand,
          },
        ],
      },
      {
        name: 'role',
        summary: 'Manage roles of users and groups in projects and environments',
        commands: [
          { name: 'list', load: async () => (await import('./commands/role/list.ts')).roleListCommand },
          { name: 'set', load: async () => (await import('./commands/role/set.ts')).roleSetCommand },
          { name: 'remove', load: async () => (await import('./commands/role/remove.ts')).roleRemoveCommand },
        ],
      },
      {
        name: 'invitation',
        summary: 'Create, accept, decline and withdraw invitations',
        commands: [
          {
            name: 'create',
            load: async () => (await import('./commands/invitation/create.ts')).invitationCreateCommand,
          },
          { name: 'list', load: async () => (await import('./commands/invitation/list.ts')).invitationListCommand },
          {
            name: 'accept',
            load: async () => (await import('./commands/invitation/accept.ts')).invitationAcceptCommand,
          },
          {
            name: 'decline',
            load: async () => (await import('./commands/invitation/decline.ts')).invitationDeclineCommand,
          },
          {
            name: 'withdraw',
            load: async () => (await import('./commands/invitation/withdraw.ts')).invitationWithdrawCommand,
          },
        ],
      },
      {
        name: 'cluster',
        summary: 'Register clusters, limit what they may do, and stop them',
        commands: [
          { name: 'list', load: async () => (await import('./commands/cluster/list.ts')).clusterListCommand },
          { name: 'show', load: async () => (await import('./commands/cluster/show.ts')).clusterShowCommand },
          { name: 'create', load: async () => (await import('./commands/cluster/create.ts')).clusterCreateCommand },
          { name: 'update', load: async () => (await import('./commands/cluster/update.ts')).clusterUpdateCommand },
          { name: 'rules', load: async () => (await import('./commands/cluster/rules.ts')).clusterRulesCommand },
          { name: 'allow', load: async () => (await import('./commands/cluster/allow.ts')).clusterAllowCommand },
          { name: 'deny', load: async () => (await import('./commands/cluster/deny.ts')).clusterDenyCommand },
          {
            name: 'disable',
            load: async () => (await import('./commands/cluster/cluster-state.ts')).clusterDisableCommand,
          },
          {
            name: 'enable',
            load: async () => (await import('./commands/cluster/cluster-state.ts')).clusterEnableCommand,
          },
          { name: 'forget', load: async () => (await import('./commands/cluster/forget.ts')).clusterForgetCommand },
        ],
      },
      {
        name: 'issuer',
        summary: 'Manage the issuers whose JWTs prove service tokens',
        commands: [
          { name: 'list', load: async () => (await import('./commands/issuer/list.ts')).issuerListCommand },
          { name: 'show', load: async () => (await import('./commands/issuer/show.ts')).issuerShowCommand },
          { name: 'set', load: async () => (await import('./commands/issuer/set.ts')).issuerSetCommand },
          { name: 'delete', load: async () => (await import('./commands/issuer/delete.ts')).issuerDeleteCommand },
        ],
      },
      {
        name: 'user',
        summary: 'Manage the users of the server (for administrators)',
        commands: [
          { name: 'list', load: async () => (await import('./commands/user/list.ts')).userListCommand },
          { name: 'create', load: async () => (await import('./commands/user/create.ts')).userCreateCommand },
          { name: 'disable', load: async () => (await import('./commands/user/disable.ts')).userDisableCommand },
          { name: 'enable', load: async () => (await import('./commands/user/enable.ts')).userEnableCommand },
          { name: 'set-email', load: async () => (await import('./commands/user/set-email.ts')).userSetEmailCommand },
          {
            name: 'grant-admin',
            load: async () => (await import('./commands/user/grant-admin.ts')).userGrantAdminCommand,
          },
          {
            name: 'revoke-admin',
            load: async () => (await import('./commands/user/revoke-admin.ts')).userRevokeAdminCommand,
          },
          { name: 'token', load: async () => (await import('./commands/user/token.ts')).userTokenCommand },
          {
            name: 'sign-in-link',
            load: async () => (await import('./commands/user/sign-in-link.ts')).userSignInLinkCommand,
          },
          {
            name: 'open-sign-in',
            load: async () => (await import('./commands/user/open-sign-in.ts')).userOpenSignInCommand,
          },
          {
            name: 'close-sign-in',
            load: async () => (await import('./commands/user/close-sign-in.ts')).userCloseSignInCommand,
          },
        ],
      },
    ],
  },
  {
    title: 'Setup',
    entries: [
      { name: 'status', load: async () => (await import('./commands/sign-in/status.ts')).statusCommand },
      { name: 'init', load: async () => (await import('./commands/folder/init.ts')).initCommand },
      { name: 'trust', load: async () => (await import('./commands/folder/trust.ts')).trustCommand },
      {
        name: 'org',
        summary: 'Manage organizations',
        commands: [
          ...tenantCommands('org'),
          {
            name: 'forbid-impersonation',
            load: async () => (await import('./commands/org/forbid-impersonation.ts')).orgForbidImpersonationCommand,
          },
          {
            name: 'allow-impersonation',
            load: async () => (await import('./commands/org/allow-impersonation.ts')).orgAllowImpersonationCommand,
          },
        ],
      },
      { name: 'project', summary: 'Manage the projects of an organization', commands: tenantCommands('project') },
      {
        name: 'env',
        summary: 'Manage the environments of a project',
        commands: [
          ...tenantCommands('env'),
          { name: 'protect', load: async () => (await import('./commands/environment/protect.ts')).envProtectCommand },
          {
            name: 'unprotect',
            load: async () => (await import('./commands/environment/unprotect.ts')).envUnprotectCommand,
          },
        ],
      },
      { name: 'completion', load: async () => (await import('./commands/program/completion.ts')).completionCommand },
      { name: 'version', load: async () => (await import('./commands/program/version.ts')).versionCommand },
      { name: 'help', load: async () => (await import('./commands/program/help.ts')).helpCommand },
    ],
  },
];
