import type { Endpoint } from '../../wire/contract/endpoint.ts';

/** The groups of the operations in the OpenAPI document. */

const descriptions: Readonly<Record<string, string>> = {
  Me: 'The caller of the request: a user or a service token, with its rights.',
  Users: 'The users of the installation, for instance admins.',
  'Personal tokens': 'Tokens as which a user calls the interface.',
  Organizations: 'The tenants: each has its members, projects and tokens.',
  Sessions: 'Sign-ins of a user in browsers and commands.',
  'Sign in': 'How users may sign in to the installation.',
  Logins: 'A sign-in of the command on the same machine, which its user approves in the browser.',
  'Device logins': 'A sign-in of the command on another machine, which its user approves by a code.',
  Identities: 'Accounts of OpenID Connect with which a user signs in.',
  Passkeys: 'Passkeys with which a user signs in.',
  'Passkey registrations': 'The first step of a new passkey: the options for the authenticator.',
  Members: 'Users with a role in an organization.',
  Projects: 'The projects of an organization.',
  Environments: 'The environments of a project, each with its own secrets.',
  Invitations: 'Invitations of users to an organization, a project or an environment.',
  Secrets: 'The present secrets of an environment.',
  Versions: 'All values that a secret has had.',
  Snapshots: 'Named states of an environment, which can be compared and restored.',
  'Service tokens': 'Tokens for programs, with the scope of an organization, a project or an environment.',
  Changes: 'The revisions of an environment, as a list and as a stream.',
  Clusters: 'The clusters of the instance, for instance admins.',
  'Trusted issuers': 'The issuers whose JWTs prove service tokens, for instance admins.',
  Fleet: 'The SecretSyncs that hold values of a project or an organization.',
  Audit: 'Who read or changed what, and which requests were refused.',
  'Passkey challenges': 'The first step of a sign-in with a passkey: the options for the authenticator.',
  'Passkey sessions': 'The second step of a sign-in with a passkey.',
  'Login tokens': 'Where a command fetches its token after its sign-in was approved.',
  'Sign in links': 'Links with which a new or invited user signs in once.',
  Health: 'Probes for the platform that runs the server.',
  Command: 'The `keyframe` command of this release.',
};

/** `service-tokens` → `Service tokens`: the first part of the path. */
export function tagOf({ path }: Pick<Endpoint, 'path'>): string {
  const [, resource = ''] = path.split('/');
  const words = resource.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** @throws Error if the table above lacks the tag */
export function describedTag(name: string): { readonly name: string; readonly description: string } {
  const description = descriptions[name];
  if (description === undefined) throw new Error(`src/http/openapi/tags.ts has no description of ${name}`);
  return { name, description };
}
