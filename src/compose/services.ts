import { isIP } from 'node:net';
import { Keyring } from '../crypto/keyring.ts';
import type { RootKeys } from '../crypto/root-keys.ts';
import { ExitError, exitCodes } from '../config/exit-error.ts';
import type { HttpServices } from '../http/http-services.ts';
import { type Clock, steadyNow, systemClock } from '../lib/clock.ts';
import { ownRelease } from '../lib/release.ts';
import { Issuer, type IssuerOptions } from '../identity/issuer.ts';
import { RelyingParty } from '../identity/relying-party.ts';
import type { Logger } from '../observability/logger.ts';
import { Access } from '../services/access/access.ts';
import { ClusterAuthentication, type ClusterAuthenticationDeps } from '../services/access/cluster-authentication.ts';
import { Authentication, type AuthenticationDeps } from '../services/access/authentication.ts';
import { FederatedTokens } from '../services/access/federated-tokens.ts';
import { IssuerKeys, type IssuerKeysDeps } from '../services/access/issuer-keys.ts';
import { RefusedClusters } from '../services/access/refused-clusters.ts';
import { CredentialUsage } from '../services/access/credential-usage.ts';
import { KeylessAccess } from '../services/access/keyless.ts';
import { AuditEntries } from '../services/audit-entries/audit-entries.ts';
import { AuditLog } from '../services/audit/audit-log.ts';
import { ChangeFeed } from '../services/changes/change-feed.ts';
import { ChangeStreams, type ChangeStreamsDeps } from '../services/changes/change-streams.ts';
import { Changes } from '../services/changes/changes.ts';
import { dropDestroyed } from '../services/changes/drop-destroyed.ts';
import { Reverts } from '../services/changes/reverts.ts';
import { ClusterRules } from '../services/clusters/cluster-rules.ts';
import { ClusterRegistrations } from '../services/clusters/cluster-registrations.ts';
import { Clusters } from '../services/clusters/clusters.ts';
import { TrustedIssuers } from '../services/issuers/trusted-issuers.ts';
import { Consumers } from '../services/fleet/consumers.ts';
import { WaitingRestores } from '../services/fleet/waiting-restores.ts';
import { SyncStates } from '../services/fleet/sync-states.ts';
import { EnvironmentQueue } from '../services/kernel/environment-queue.ts';
import { GrowthBudget, type GrowthLimits } from '../services/kernel/growth-budget.ts';
import { ResourceAccess } from '../services/managed/access.ts';
import { ClusterPorts } from '../services/cluster/cluster-port.ts';
import { ClusterStreams } from '../services/cluster/cluster-streams.ts';
import { ClusterRegistry } from '../services/cluster/cluster-registry.ts';
import { ResourceEnvironments } from '../services/managed/environments.ts';
import { ResourceRestores } from '../services/managed/restores.ts';
import { ResourceSchedules } from '../services/managed/schedules.ts';
import { ResourceSnapshots } from '../services/managed/snapshots.ts';
import { ResourceTokens } from '../services/managed/tokens.ts';
import { Invitations } from '../services/people/invitations.ts';
import { Me } from '../services/people/me.ts';
import { Members } from '../services/people/members.ts';
import { RoleBindings } from '../services/people/role-bindings.ts';
import { Users } from '../services/people/users.ts';
import { Copies } from '../services/secrets/copy/copies.ts';
import { Destructions } from '../services/secrets/destructions.ts';
import { SecretReader } from '../services/secrets/secret-reader.ts';
import { SecretWriter } from '../services/secrets/secret-writer.ts';
import { Secrets } from '../services/secrets/secrets.ts';
import { StateCache } from '../services/secrets/state-cache.ts';
import { Versions } from '../services/secrets/versions.ts';
import { Restores } from '../services/snapshots/restore/restores.ts';
import { Identities } from '../services/sign-in/identities.ts';
import { oidcCallbackPath, OidcSignIn, type OidcSignInDeps, type OidcSignInOptions } from '../services/sign-in/oidc.ts';
import { PasskeySignIn } from '../services/sign-in/passkey-sign-in.ts';
import { Passkeys, type PasskeysOff } from '../services/sign-in/passkeys.ts';
import { Sessions } from '../services/sign-in/sessions.ts';
import { CommandLogins } from '../services/sign-in/command-logins.ts';
import { SignIn } from '../services/sign-in/sign-in.ts';
import { SignInLinks } from '../services/sign-in/sign-in-links.ts';
import { Snapshots } from '../services/snapshots/snapshots.ts';
import { Environments } from '../services/tenancy/environments.ts';
import { Organizations } from '../services/tenancy/organizations.ts';
import { Projects } from '../services/tenancy/projects.ts';
import { PersonalTokens } from '../services/tokens/personal-tokens.ts';
import { Federations, type FederationsDeps } from '../services/tokens/federations.ts';
import { ServiceTokens } from '../services/tokens/service-tokens.ts';
import { type Database, openDatabase } from '../store/database.ts';
import { PostgresKeyStore } from '../store/keys.ts';
import { Listener } from '../store/listener.ts';
import { schemaFault } from '../store/migrate.ts';

/** All services over one open database. The API and the controller use them. */
export interface Services extends HttpServices {
  readonly database: Database;
  readonly logger: Logger;
  readonly keyring: Keyring;
  readonly authentication: Authentication;
  readonly clusterAuthentication: ClusterAuthentication;
  readonly refusedClusters: RefusedClusters;
  readonly issuerKeys: IssuerKeys;
  /** For the API. */
  readonly audit: AuditLog;
  /** For the controller, so that its many reads delay no request. */
  readonly controllerAudit: AuditLog;
  readonly usage: CredentialUsage;
  /** One for the process: the controller and the streams of the API are notified of commits by it. */
  readonly feed: ChangeFeed;
  readonly states: StateCache;
  readonly secretReader: SecretReader;
  readonly keyless: KeylessAccess;
  readonly clusters: ClusterRegistry;
  readonly clusterPorts: ClusterPorts;
  readonly syncStates: SyncStates;
  readonly waitingRestores: WaitingRestores;
  readonly resourceAccess: ResourceAccess;
  readonly resourceTokens: ResourceTokens;
  readonly resourceSnapshots: ResourceSnapshots;
  readonly resourceRestores: ResourceRestores;
  readonly resourceSchedules: ResourceSchedules;
  readonly resourceEnvironments: ResourceEnvironments;
  /** This server for passkeys, or why it has none. */
  readonly relyingParty: RelyingParty | PasskeysOff;
}

/** Sign-in with OpenID Connect. */
export interface OidcOptions extends OidcSignInOptions, Omit<IssuerOptions, 'redirectUrl'> {
  /** The origin at which browsers reach this server. */
  readonly publicUrl: string;
}

/** What the server takes from its configuration, and the parts that tests replace. */
export interface ServicesOptions {
  readonly databaseUrl: string;
  /** Past a pooler; `databaseUrl` by default. */
  readonly databaseDirectUrl?: string;
  readonly databaseCaFile?: string | undefined;
  /** Max connections; the default of `openDatabase`. */
  readonly poolSize?: number;
  readonly rootKeys: RootKeys;
  /** The defaults of `GrowthBudget`. */
  readonly growthLimits?: GrowthLimits;
  /** The defaults of `ChangeStreams`. */
  readonly streams?: Pick<ChangeStreamsDeps, 'maxStreams' | 'checkMs'>;
  /** Whether keys of trusted issuers may be fetched from private addresses; false by default. */
  readonly trustedIssuerPrivateAddresses?: boolean;
  /** Whether users may approve a command on another machine; true by default. */
  readonly deviceLogin?: boolean;
  /** The origin at which browsers reach this server: by default that of each request, and no passkeys. */
  readonly publicUrl?: string | undefined;
  /** Undefined for no sign-in with OpenID Connect. */
  readonly oidc?: OidcOptions | undefined;
  readonly clock?: Clock;
  /** The release that the API reports; that of package.json by default. */
  readonly release?: string;
  readonly logger: Logger;
}

/**
 * Opens the database and the keyring, and creates the services. `open` closes them in order: it stops the feed, waits for
 * writes in the background, and closes the database. Throws ExitError for another schema, and DomainError.
 */
export async function openServices(options: ServicesOptions, open: AsyncDisposableStack): Promise<Services> {
  const { databaseUrl, databaseDirectUrl = databaseUrl, databaseCaFile: caFile, poolSize, rootKeys, logger } = options;
  const database = openDatabase({ url: databaseUrl, caFile, ...(poolSize === undefined ? {} : { poolSize }) });
  open.defer(() => database.close());
  const fault = await schemaFault(database);
  if (fault !== undefined) throw new ExitError(exitCodes.configuration, fault);
  const keyring = new Keyring({ rootKeys, store: new PostgresKeyStore({ database }) });
  await keyring.open();
  const composed = composeServices(
    { database, keyring, listener: new Listener({ url: databaseDirectUrl, caFile, logger }) },
    options,
  );
  const clusterPorts = new ClusterPorts(composed);
  const clusterStreams = new ClusterStreams({ feed: composed.feed, ports: clusterPorts, clock: options.clock });
  const services = { ...composed, clusterPorts, clusterStreams };
  open.defer(async () => {
    await services.audit.drain();
    await services.controllerAudit.drain();
    await services.usage.drain();
    await services.issuerKeys.drain();
  });
  open.defer(() => services.feed.close());
  return services;
}

interface Opened {
  readonly database: Database;
  readonly keyring: Keyring;
  readonly listener: Listener;
}

/** Nothing here has an effect until it is called. */
function composeServices(opened: Opened, options: ServicesOptions): Omit<Services, 'clusterPorts' | 'clusterStreams'> {
  const { database, keyring, listener } = opened;
  const { clock = systemClock, logger, growthLimits, streams, release = ownRelease(), deviceLogin = true } = options;
  const audit = new AuditLog({ database });
  const controllerAudit = new AuditLog({ database });
  const usage = new CredentialUsage({ database, clock, logger });
  const feed = new ChangeFeed({ listener, logger });
  const queue = new EnvironmentQueue();
  const budget = new GrowthBudget(growthLimits);
  const states = new StateCache();
  dropDestroyed(feed, states);
  const refusedClusters = new RefusedClusters(steadyNow);
  const authentication = composeAuthentication({ database, usage, clock, logger, refused: refusedClusters }, options);
  const access = new Access({ database, audit });
  const oidc = options.oidc && composeOidc(options.oidc, { database, audit, access, logger });
  const relyingParty = relyingPartyAt(options.publicUrl);
  const passkeySignIn =
    typeof relyingParty === 'string' ? relyingParty : new PasskeySignIn({ database, audit, relyingParty });
  const writer = new SecretWriter({ database, keyring, queue, budget });
  return {
    database,
    logger,
    keyring,
    audit,
    controllerAudit,
    usage,
    feed,
    states,
    ...authentication,
    refusedClusters,
    access,
    me: new Me({ database, audit, serverVersion: release }),
    users: new Users({ database, audit }),
    sessions: new Sessions({ database, audit }),
    signIn: new SignIn({ database, audit, publicUrl: options.publicUrl, deviceLogin, oidc, passkeys: passkeySignIn }),
    signInLinks: new SignInLinks({ database, audit }),
    commandLogins: new CommandLogins({ database, audit, allowsDevices: deviceLogin }),
    identities: new Identities({ database, audit }),
    passkeys: new Passkeys({ database, audit, relyingParty }),
    relyingParty,
    organizations: new Organizations({ database, audit }),
    members: new Members({ database, audit }),
    roleBindings: new RoleBindings({ database, audit }),
    invitations: new Invitations({ database, audit }),
    projects: new Projects({ database, audit }),
    environments: new Environments({ database, audit }),
    secrets: new Secrets({ database, keyring, writer, states, audit }),
    versions: new Versions({ database, keyring, writer, audit }),
    destructions: new Destructions({ database, queue, audit }),
    copies: new Copies({ database, keyring, queue, budget, audit }),
    snapshots: new Snapshots({ database, queue, budget, audit }),
    restores: new Restores({ database, queue, budget, audit }),
    ...composeTokens({ database, audit, federated: authentication.federated }),
    changes: new Changes({ database, audit }),
    reverts: new Reverts({ database, queue, budget, audit }),
    changeStreams: new ChangeStreams({ database, changes: feed, audit, clock, ...streams }),
    consumers: new Consumers({ database, audit }),
    clusterRules: new ClusterRules({ database, audit }),
    servedClusters: new Clusters({ database, audit }),
    ...composeIssuers({ database, audit }, options),
    auditEntries: new AuditEntries({ database, audit }),
    secretReader: new SecretReader({ database, keyring, states, audit: controllerAudit }),
    keyless: new KeylessAccess({ database, audit: controllerAudit, usage }),
    clusters: new ClusterRegistry({ database, release, refused: refusedClusters }),
    syncStates: new SyncStates(database),
    waitingRestores: new WaitingRestores({ database, audit }),
    ...composeResources({ database, queue, budget, audit: controllerAudit }),
  };
}

function composeAuthentication(
  {
    database,
    usage,
    clock,
    logger,
    refused,
  }: Omit<IssuerKeysDeps, 'fetchRules'> &
    Omit<AuthenticationDeps, 'federated'> &
    Pick<ClusterAuthenticationDeps, 'refused'>,
  { trustedIssuerPrivateAddresses: allowsPrivateAddresses = false }: ServicesOptions,
): Pick<Services, 'authentication' | 'clusterAuthentication' | 'issuerKeys'> & {
  readonly federated: FederatedTokens;
} {
  const issuerKeys = new IssuerKeys({ database, clock, logger, fetchRules: { allowsPrivateAddresses } });
  const federated = new FederatedTokens({ database, keys: issuerKeys });
  const clusterAuthentication = new ClusterAuthentication({ database, keys: issuerKeys, refused });
  return {
    authentication: new Authentication({ database, usage, federated }),
    clusterAuthentication,
    issuerKeys,
    federated,
  };
}

/** The parts that trust issuers. */
function composeIssuers(
  deps: Pick<Services, 'database' | 'audit'>,
  { trustedIssuerPrivateAddresses: allowsPrivateUrls }: ServicesOptions,
): Pick<Services, 'trustedIssuers' | 'clusterRegistrations'> {
  return {
    trustedIssuers: new TrustedIssuers({ ...deps, allowsPrivateUrls }),
    clusterRegistrations: new ClusterRegistrations({ ...deps, allowsPrivateUrls }),
  };
}

function composeTokens(
  deps: FederationsDeps & Pick<Services, 'database' | 'audit'>,
): Pick<Services, 'personalTokens' | 'serviceTokens' | 'federations'> {
  return {
    personalTokens: new PersonalTokens(deps),
    serviceTokens: new ServiceTokens(deps),
    federations: new Federations(deps),
  };
}

/** What custom resources use. */
function composeResources(deps: ResourceDeps): Pick<Services, Extract<keyof Services, `resource${string}`>> {
  return {
    resourceAccess: new ResourceAccess(deps),
    resourceTokens: new ResourceTokens(deps),
    resourceSnapshots: new ResourceSnapshots(deps),
    resourceRestores: new ResourceRestores(deps),
    resourceSchedules: new ResourceSchedules(deps),
    resourceEnvironments: new ResourceEnvironments(deps),
  };
}

interface ResourceDeps {
  readonly database: Database;
  readonly queue: EnvironmentQueue;
  readonly budget: GrowthBudget;
  readonly audit: AuditLog;
}

function composeOidc(options: OidcOptions, deps: Omit<OidcSignInDeps, 'issuer'>): OidcSignIn {
  const issuer = new Issuer({ ...options, redirectUrl: options.publicUrl + oidcCallbackPath });
  return new OidcSignIn({ ...deps, issuer }, options);
}

/** A browser has no passkeys for an IP address (Web Authentication, "relying party identifier"). */
function relyingPartyAt(publicUrl: string | undefined): RelyingParty | PasskeysOff {
  if (publicUrl === undefined) return 'no_public_url';
  const host = new URL(publicUrl).hostname.replaceAll(/[[\]]/g, '');
  return isIP(host) === 0 ? new RelyingParty(publicUrl) : 'ip_address';
}
