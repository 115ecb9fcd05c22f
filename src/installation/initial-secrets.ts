import { randomBytes, randomUUID } from 'node:crypto';
import { generateRootKey } from '../crypto/root-keys.ts';
import { generateToken } from '../crypto/token.ts';
import { Plaintext } from '../domain/plaintext.ts';

/** A Secret that an installation needs before its pods start. */
export interface InitialSecret {
  readonly name: string;
  /** One word, for the label app.kubernetes.io/component. */
  readonly component: string;
  /** Keys that those who mount the Secret read. */
  readonly keys: readonly string[];
  /** What to do where the Secret is there and lacks one of them. */
  readonly advice: string;
  /** Anew each time it is called. */
  readonly make: () => Readonly<Record<string, Plaintext>>;
}

/** The root key, as one line under `key`. */
export function rootKeySecret({ secret, key }: { readonly secret: string; readonly key: string }): InitialSecret {
  return {
    name: secret,
    component: 'root-key',
    keys: [key],
    advice:
      'Put the root key there, from where it was backed up, or name the right Secret and key in the values (rootKey). Only if no database was ever encrypted under it, delete the Secret, and a new key is made',
    make: () => ({ [key]: generateRootKey() }),
  };
}

/** The password of a PostgreSQL that is not there yet, and the address by which the server finds it on `host`. */
export function postgresSecret({ secret, host }: { readonly secret: string; readonly host: string }): InitialSecret {
  return {
    name: secret,
    component: 'postgres',
    keys: ['password', 'url'],
    advice:
      'Put the password that PostgreSQL was first started with there, and the address postgresql://keyframe:password@host:5432/keyframe. Only if there is no volume of PostgreSQL, delete the Secret, and a new password is made',
    make: () => {
      // Hexadecimal: nothing in it has to be escaped in an address.
      const password = randomBytes(24).toString('hex');
      const url = `postgresql://keyframe:${password}@${host}:5432/keyframe`;
      return { password: new Plaintext(password), url: new Plaintext(url) };
    },
  };
}

/** A personal token, with which the server makes the first administrator in an empty database. */
export function adminSecret({ secret, email }: { readonly secret: string; readonly email: string }): InitialSecret {
  return {
    name: secret,
    component: 'admin',
    keys: ['token'],
    advice: 'Put the token of an instance admin there, or delete the Secret, and a token for an empty database is made',
    make: () => ({ token: generateToken('personal_token', randomUUID()).token, email: new Plaintext(email) }),
  };
}
