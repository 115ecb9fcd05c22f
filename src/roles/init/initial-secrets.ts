import { randomBytes, randomUUID } from 'node:crypto';
import { generateRootKey } from '../../crypto/root-keys.ts';
import { generateToken } from '../../crypto/token.ts';
import { Plaintext } from '../../domain/plaintext.ts';

/** A Secret that an installation needs before its pods start. */
export interface InitialSecret<Made = Generated | Promise<Generated>> {
  readonly name: string;
  /** One word, for the label app.kubernetes.io/component. */
  readonly component: string;
  /** Keys that the pods read from it. */
  readonly keys: readonly string[];
  /** What to do if the Secret exists and lacks one of them. */
  readonly advice: string;
  /** Returns new values each time. */
  readonly generate: () => Made;
}

type Generated = Readonly<Record<string, Plaintext>>;

/** The root key, as one line under `key`. */
export function rootKeySecret({
  secret,
  key,
}: {
  readonly secret: string;
  readonly key: string;
}): InitialSecret<Generated> {
  return {
    name: secret,
    component: 'root-key',
    keys: [key],
    advice:
      'Put the root key there from its backup, or name the right Secret and key in the values (rootKey). Only if no database was ever encrypted under it, delete the Secret, and a new key is created',
    generate: () => ({ [key]: generateRootKey() }),
  };
}

/** The password of the owner of a new PostgreSQL, and the owner's address on `host`. */
export function postgresSecret({
  secret,
  host,
}: {
  readonly secret: string;
  readonly host: string;
}): InitialSecret<Generated> {
  return {
    name: secret,
    component: 'postgres',
    keys: ['password', 'url'],
    advice:
      'Put the password that PostgreSQL was first started with there, and the address postgresql://keyframe:password@host:5432/keyframe. Only if PostgreSQL has no volume, delete the Secret, and a new password is created. If the password is lost, see "Rotate the database passwords" in docs/backup-and-recovery.md',
    generate: () => {
      const password = newPassword();
      return { password: new Plaintext(password), url: addressOf('keyframe', password, host) };
    },
  };
}

/** The address as which the servers connect to that PostgreSQL. `migrate` creates the role. */
export function postgresRunSecret({
  secret,
  host,
}: {
  readonly secret: string;
  readonly host: string;
}): InitialSecret<Generated> {
  return {
    name: secret,
    component: 'postgres',
    keys: ['url'],
    advice:
      'Put the address postgresql://keyframe_app:password@host:5432/keyframe there, or delete the Secret: a new password is created, and the next migration sets it',
    generate: () => ({ url: addressOf('keyframe_app', newPassword(), host) }),
  };
}

// Hexadecimal, so that nothing in it must be escaped in an address.
function newPassword(): string {
  const password = randomBytes(24).toString('hex');
  return password;
}

function addressOf(role: string, password: string, host: string): Plaintext {
  return new Plaintext(`postgresql://${role}:${password}@${host}:5432/keyframe`);
}

/** A personal token, which the server gives the first administrator of an empty database. */
export function adminSecret({
  secret,
  email,
}: {
  readonly secret: string;
  readonly email: string;
}): InitialSecret<Generated> {
  return {
    name: secret,
    component: 'admin',
    keys: ['token'],
    advice:
      'Put the token of an instance admin there, or delete the Secret, and a token for an empty database is created',
    generate: () => ({ token: generateToken('personal_token', randomUUID()).token, email: new Plaintext(email) }),
  };
}

/** The home token, which the API and the controllers of this installation mount. */
export function clusterTokenSecret({ secret }: { readonly secret: string }): InitialSecret<Generated> {
  return {
    name: secret,
    component: 'cluster-token',
    keys: ['token'],
    advice:
      'Put the home token (kf_cls_…) there, or delete the Secret, and a new one is created; the pods read it by themselves',
    generate: () => ({ token: generateToken('cluster', randomUUID()).token }),
  };
}

/**
 * The CA of the port of controllers. It has the keys of a Secret of the type kubernetes.io/tls, and `ca.crt`, which is all
 * that controllers get.
 */
export function clusterCaSecret({
  secret,
  names,
}: {
  readonly secret: string;
  readonly names: readonly string[];
}): InitialSecret {
  return {
    name: secret,
    component: 'cluster-tls',
    keys: ['tls.crt', 'tls.key', 'ca.crt'],
    advice:
      'Put the certificate of the CA and its key there, and the certificate again as ca.crt, or delete the Secret: another CA is created, and the pods must be restarted',
    generate: async () => {
      // Loaded on use: it takes longer than all else here.
      const { makeAuthority } = await import('../../crypto/authority.ts');
      const { certificate, key } = await makeAuthority(names, Date.now());
      const shown = new Plaintext(certificate);
      return { 'tls.crt': shown, 'tls.key': key, 'ca.crt': shown };
    },
  };
}
