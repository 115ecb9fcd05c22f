import { describe, expect, test } from '@jest/globals';
import { routeTable } from '../../../src/http/routes/table.ts';
import type { Route } from '../../../src/http/route.ts';
import { callOf, type Services } from './route-calls.ts';

/**
 * What each route asks of access, and at which level. Written out, so that a change shows as a change of this table. What
 * access then decides is in test/unit/domain/policy.test.ts, and test/integration/http/matrix has the two together.
 */
const table = `
  GET    /audit                                                  instance     audit.list_instance
  GET    /audit/{org}                                            organization audit.list
  GET    /changes/{org}/{project}/{env}                          environment  change.list
  POST   /changes/{org}/{project}/{env}/{revision}/revert        environment  change.revert
  GET    /clusters                                               instance     cluster.list_all
  PUT    /clusters/{name}                                        instance     cluster.update
  DELETE /clusters/{name}                                        instance     cluster.forget
  POST   /clusters/{name}/disable                                instance     cluster.disable
  POST   /clusters/{name}/enable                                 instance     cluster.enable
  POST   /device-logins/approve                                  person       login.approve
  POST   /device-logins/lookup                                   person       login.read
  GET    /environments/{org}/{project}                           project      environment.list
  POST   /environments/{org}/{project}                           project      environment.create
  GET    /environments/{org}/{project}/{env}                     environment  environment.read
  PATCH  /environments/{org}/{project}/{env}                     environment  environment.update
  DELETE /environments/{org}/{project}/{env}                     environment  environment.delete
  GET    /environments/{org}/{project}/{env}/consumers           environment  consumer.list
  POST   /environments/{org}/{project}/{env}/copy                environment  environment.copy
  POST   /environments/{org}/{project}/{env}/purge               instance     environment.purge
  GET    /environments/{org}/{project}/{env}/roles               environment  environment.list_roles
  PUT    /environments/{org}/{project}/{env}/roles/{subject}     environment  environment.set_role
  DELETE /environments/{org}/{project}/{env}/roles/{subject}     environment  environment.remove_role
  POST   /environments/{org}/{project}/{env}/undelete            environment  environment.undelete
  GET    /fleet/{org}                                            organization fleet.list
  GET    /fleet/{org}/restores                                   organization fleet.list
  GET    /identities                                             person       identity.list
  DELETE /identities/{id}                                        person       identity.unlink
  GET    /invitations                                            person       invitation.list_own
  POST   /invitations/{id}/accept                                person       invitation.accept
  POST   /invitations/{id}/decline                               person       invitation.decline
  POST   /logins                                                 person       login.approve
  GET    /me                                                     caller       me.read
  GET    /members/{org}                                          organization member.list
  PUT    /members/{org}/{user}                                   organization member.set
  DELETE /members/{org}/{user}                                   organization member.remove
  GET    /organizations                                          caller       organization.list
  POST   /organizations                                          instance     organization.create
  GET    /organizations/{org}                                    organization organization.read
  PATCH  /organizations/{org}                                    organization organization.update
  DELETE /organizations/{org}                                    organization organization.delete
  GET    /organizations/{org}/clusters                           organization cluster.list
  GET    /organizations/{org}/clusters/{name}                    organization cluster.list
  PUT    /organizations/{org}/clusters/{name}                    organization cluster.set_rules
  DELETE /organizations/{org}/clusters/{name}                    organization cluster.set_rules
  PUT    /organizations/{org}/impersonation                      organization organization.set_impersonation
  GET    /organizations/{org}/invitations                        organization invitation.list
  POST   /organizations/{org}/invitations                        organization invitation.create
  DELETE /organizations/{org}/invitations/{id}                   organization invitation.withdraw
  PUT    /organizations/{org}/owner                              instance     organization.appoint_owner
  POST   /organizations/{org}/purge                              instance     organization.purge
  GET    /organizations/{org}/roles                              organization organization.list_roles
  PUT    /organizations/{org}/roles/{subject}                    organization organization.set_role
  DELETE /organizations/{org}/roles/{subject}                    organization organization.remove_role
  GET    /organizations/{org}/trusted-issuers                    organization trusted_issuer.list
  POST   /organizations/{org}/undelete                           instance     organization.undelete
  POST   /passkey-registrations                                  person       passkey.create
  GET    /passkeys                                               person       passkey.list
  POST   /passkeys                                               person       passkey.create
  DELETE /passkeys/{id}                                          person       passkey.remove
  POST   /passkeys/{id}/confirm                                  person       passkey.confirm
  GET    /personal-tokens                                        person       personal_token.list
  POST   /personal-tokens                                        person       personal_token.create
  DELETE /personal-tokens/{id}                                   person       personal_token.revoke
  GET    /projects/{org}                                         organization project.list
  POST   /projects/{org}                                         organization project.create
  GET    /projects/{org}/{project}                               project      project.read
  PATCH  /projects/{org}/{project}                               project      project.update
  DELETE /projects/{org}/{project}                               project      project.delete
  POST   /projects/{org}/{project}/purge                         instance     project.purge
  GET    /projects/{org}/{project}/roles                         project      project.list_roles
  PUT    /projects/{org}/{project}/roles/{subject}               project      project.set_role
  DELETE /projects/{org}/{project}/roles/{subject}               project      project.remove_role
  GET    /projects/{org}/{project}/service-tokens                project      service_token.list
  POST   /projects/{org}/{project}/service-tokens                project      service_token.create
  GET    /projects/{org}/{project}/service-tokens/{id}           project      service_token.list
  DELETE /projects/{org}/{project}/service-tokens/{id}           project      service_token.revoke
  POST   /projects/{org}/{project}/service-tokens/{id}/reinstate project      service_token.reinstate
  POST   /projects/{org}/{project}/service-tokens/{id}/rotate    project      service_token.rotate
  POST   /projects/{org}/{project}/undelete                      project      project.undelete
  GET    /secrets/{org}/{project}/{env}                          environment  secret.list
  PATCH  /secrets/{org}/{project}/{env}                          environment  secret.write
  GET    /secrets/{org}/{project}/{env}/{key}                    environment  secret.read
  PUT    /secrets/{org}/{project}/{env}/{key}                    environment  secret.write
  DELETE /secrets/{org}/{project}/{env}/{key}                    environment  secret.delete
  GET    /service-tokens/{org}                                   organization service_token.list
  POST   /service-tokens/{org}                                   organization service_token.create
  GET    /service-tokens/{org}/{id}                              organization service_token.list
  DELETE /service-tokens/{org}/{id}                              organization service_token.revoke
  POST   /service-tokens/{org}/{id}/accept-issuer                organization service_token.accept_issuer
  POST   /service-tokens/{org}/{id}/explain                      organization service_token.explain
  POST   /service-tokens/{org}/{id}/reinstate                    organization service_token.reinstate
  POST   /service-tokens/{org}/{id}/rotate                       organization service_token.rotate
  GET    /sessions                                               person       session.list
  POST   /sessions                                               person       session.create
  DELETE /sessions                                               person       session.end
  DELETE /sessions/{id}                                          person       session.end
  PUT    /sign-in                                                instance     sign_in.update
  GET    /snapshots/{id}                                         snapshot     snapshot.read
  GET    /snapshots/{org}/{project}/{env}                        environment  snapshot.list
  POST   /snapshots/{org}/{project}/{env}                        environment  snapshot.create
  POST   /snapshots/{org}/{project}/{env}/prune                  environment  snapshot.delete
  POST   /snapshots/{org}/{project}/{env}/restore                environment  snapshot.restore
  GET    /snapshots/{org}/{project}/{env}/{id}                   environment  snapshot.read
  DELETE /snapshots/{org}/{project}/{env}/{id}                   environment  snapshot.delete
  GET    /snapshots/{org}/{project}/{env}/{id}/diff              environment  snapshot.read
  GET    /trusted-issuers                                        instance     trusted_issuer.list_all
  GET    /trusted-issuers/{name}                                 instance     trusted_issuer.list_all
  PUT    /trusted-issuers/{name}                                 instance     trusted_issuer.set
  DELETE /trusted-issuers/{name}                                 instance     trusted_issuer.delete
  GET    /users                                                  instance     user.list
  POST   /users                                                  instance     user.create
  GET    /users/{id}                                             instance     user.read
  PATCH  /users/{id}                                             instance     user.update
  GET    /users/{id}/identities                                  instance     user.read
  DELETE /users/{id}/identities/{identity}                       instance     user.update
  GET    /users/{id}/passkeys                                    instance     user.read
  DELETE /users/{id}/passkeys/{passkey}                          instance     user.update
  POST   /users/{id}/passkeys/{passkey}/confirm                  instance     user.update
  POST   /users/{id}/personal-tokens                             instance     user.update
  DELETE /users/{id}/personal-tokens                             instance     user.update
  GET    /users/{id}/sessions                                    instance     user.read
  DELETE /users/{id}/sessions                                    instance     user.update
  POST   /users/{id}/sign-in-links                               instance     sign_in_link.create
  GET    /versions/{org}/{project}/{env}/{key}                   environment  version.list
  POST   /versions/{org}/{project}/{env}/{key}/rollback          environment  version.rollback
  GET    /versions/{org}/{project}/{env}/{key}/{version}         environment  version.read
  POST   /versions/{org}/{project}/{env}/{key}/{version}/destroy environment  version.destroy
`;

const lines = table
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => {
    const [method = '', path = '', level = '', action = ''] = line.trim().split(/ +/);
    return { name: `${method} ${path}`, level, action };
  });

const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method} ${path}`;
const refused = new Error('refused');

/** Services of which access refuses every caller, and notes who asked for what; nothing else may be used. */
function refusing(asked: unknown[][]): Services {
  const note =
    (level: string) =>
    (...question: unknown[]): Promise<never> => {
      asked.push([level, ...question]);
      return Promise.reject(refused);
    };
  const access = new Proxy({}, { get: (_access, level) => note(String(level)) });
  return new Proxy(
    { access },
    { get: (given, name) => (name === 'access' ? given.access : used(String(name))) },
  ) as never;
}

function used(what: string): never {
  throw new Error(`${what} was used before access was asked`);
}

/** The names of the path that are the target, as access takes them. */
function targetOf(level: string, params: Readonly<Record<string, string>>): unknown[] {
  const { org: organization, project, env: environment, id } = params;
  const targets: Readonly<Record<string, unknown[]>> = {
    person: [],
    instance: [],
    organization: [{ organization }],
    project: [{ organization, project }],
    environment: [{ organization, project, environment }],
    snapshot: [id],
  };
  return targets[level] ?? used(level);
}

test('the table has a line for every route, and a route for every line', () => {
  expect(lines.map(({ name }) => name).toSorted()).toEqual(routeTable.map(nameOf).toSorted());
});

describe('before anything else of a request is judged, access is asked:', () => {
  const asking = routeTable.flatMap((route) => {
    const line = lines.find(({ name }) => name === nameOf(route));
    return line === undefined || line.level === 'caller' ? [] : [{ ...line, route }];
  });

  test.each(asking)('$name: $level, $action', async ({ route, level, action }) => {
    const asked: unknown[][] = [];
    const call = callOf(route, {
      query: () => used('the query'),
      header: () => used('a header'),
      body: () => used('the body'),
      refuseBody: () => used('the body'),
    });
    await expect(route.run(call, refusing(asked))).rejects.toBe(refused);
    expect(asked).toEqual([[level, call.caller, action, ...targetOf(level, call.params)]]);
    expect(route.action).toBe(action);
  });

  test('except by what each caller may do', () => {
    const open = lines.filter(({ level }) => level === 'caller').map(({ name }) => name);
    expect(open).toEqual(['GET /me', 'GET /organizations']);
  });
});
