import { describe, expect, test } from '@jest/globals';
import {
  type AnswerOf,
  type EndpointName,
  type PlainRequest,
  type RequestOf,
  type Transport,
  call,
  filledPath,
  queryText,
} from '../../../src/client/call.ts';
import type { InvitationView } from '../../../src/wire/invitations.ts';
import type { MemberView } from '../../../src/wire/members.ts';
import type { DeletedSecretListView, SecretKeyListView, SecretListView } from '../../../src/wire/secrets.ts';

type Sent = readonly [method: string, path: string, request: PlainRequest];

/** Records what is sent, and answers with `body`. */
function recorder(body: unknown): { readonly client: Transport<undefined>; readonly sent: Sent[] } {
  const sent: Sent[] = [];
  const client: Transport<undefined> = {
    send: (...request) => {
      sent.push(request);
      return Promise.resolve({ status: 200, headers: undefined, body });
    },
  };
  return { client, sent };
}

describe('a call', () => {
  test('sends the method and the path of its endpoint, with the request as it is', async () => {
    const { client, sent } = recorder({ key: 'A' });
    const params = { org: 'acme', project: 'shop', env: 'production', key: 'A' };
    const request = { params, body: { value: 'x', comment: undefined } };
    const answer = await call(client, 'PUT /secrets/{org}/{project}/{env}/{key}', request);
    expect(answer).toEqual({ status: 200, headers: undefined, body: { key: 'A' } });
    expect(sent).toEqual([['PUT', '/secrets/{org}/{project}/{env}/{key}', request]]);
  });

  test('needs no request if its endpoint requires nothing', async () => {
    const { client, sent } = recorder(undefined);
    await call(client, 'GET /me');
    expect(sent).toEqual([['GET', '/me', {}]]);
  });
});

describe('a path', () => {
  test.each(['a/b', '%2e%2e', '..x', '?x', 'ü #', '{key}'])('keeps %j one segment', (key) => {
    const path = filledPath('/secrets/{org}/{key}/versions', { org: 'acme', key });
    const { pathname, search, hash } = new URL(`http://localhost${path}`);
    expect(pathname.split('/').map(decodeURIComponent)).toEqual(['', 'secrets', 'acme', key, 'versions']);
    expect(search + hash).toBe('');
  });

  test.each(['', '.', '..'])('is none with the name %j, which would change the address', (project) => {
    expect(filledPath('/projects/{org}/{project}', { org: 'acme', project })).toBeUndefined();
  });

  test('is none without one of its names', () => {
    expect(filledPath('/projects/{org}/{project}', { org: 'acme' })).toBeUndefined();
  });
});

describe('a query', () => {
  test('leaves out what is undefined', () => {
    expect(queryText({ limit: '5', cursor: undefined, prefix: 'A&B' })).toBe('?limit=5&prefix=A%26B');
    expect(queryText({ cursor: undefined })).toBe('');
  });
});

/** Whether two types are the same. */
type Same<One, Other> = [One, Other] extends [Other, One] ? true : false;
/** The paths of what is unknown within a type. */
type UnknownIn<T, Path extends string = ''> = unknown extends T
  ? Path
  : T extends readonly (infer Item)[]
    ? UnknownIn<Item, `${Path}[]`>
    : T extends object
      ? { [Key in keyof T & string]-?: UnknownIn<T[Key], `${Path}.${Key}`> }[keyof T & string]
      : never;
type InputsWithUnknown = { [Name in EndpointName]: `${Name} ${UnknownIn<RequestOf<Name>>}` }[EndpointName];

// The type check is the test: each line is an error if the types differ.
describe('the types of a request', () => {
  test('know every part of every input', () => {
    const none: Same<InputsWithUnknown, never> = true;
    expect(none).toBe(true);
  });

  test('take a query as text', () => {
    const text: Same<NonNullable<RequestOf<'GET /users'>['query']>['limit'], string | undefined> = true;
    expect(text).toBe(true);
  });

  test('take an Idempotency-Key only if the endpoint supports it', () => {
    const supported: Same<RequestOf<'POST /service-tokens/{org}'>['idempotencyKey'], string | undefined> = true;
    const other: Same<RequestOf<'POST /users'>['idempotencyKey'], undefined> = true;
    expect([supported, other]).toEqual([true, true]);
  });
});

describe('the types of an answer', () => {
  test('are a union by status', () => {
    type Answer = AnswerOf<'PUT /members/{org}/{user}', undefined>;
    const member: Same<Extract<Answer, { status: 200 | 201 }>['body'], MemberView> = true;
    const invited: Same<Extract<Answer, { status: 202 }>['body'], InvitationView> = true;
    const nothing: Same<AnswerOf<'DELETE /sessions'>['body'], undefined> = true;
    expect([member, invited, nothing]).toEqual([true, true, true]);
  });

  test('of a list of secrets follow its query', async () => {
    const { client } = recorder({ secrets: [] });
    const params = { org: 'acme', project: 'shop', env: 'production' };
    const list = 'GET /secrets/{org}/{project}/{env}';
    const values: { readonly body: SecretListView } = await call(client, list, { params });
    const keys: { readonly body: SecretKeyListView } = await call(client, list, { params, query: { values: 'false' } });
    const deleted: { readonly body: DeletedSecretListView } = await call(client, list, {
      params,
      query: { deleted: 'true' },
    });
    expect([values, keys, deleted].map(({ body }) => body.secrets)).toEqual([[], [], []]);
  });
});
