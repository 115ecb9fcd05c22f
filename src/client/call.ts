import type { z } from 'zod';
import type * as contract from '../wire/contract/index.ts';
import type { Method, ResponseSchemas } from '../wire/contract/endpoint.ts';
import type { SentEvent } from '../wire/event-parser.ts';
import type { DeletedSecretListView, SecretKeyListView, SecretListView } from '../wire/secrets.ts';

/**
 * Requests of the API, typed by its contract. The contract is not loaded: nothing here checks at run time what the server
 * returns. The command sends them with node:http, and the dashboard with fetch.
 */

type Endpoints = (typeof contract)[keyof typeof contract];
type ByName = { readonly [Declared in Endpoints as `${Declared['method']} ${Declared['path']}`]: Declared };

/** An endpoint of the contract, such as `GET /projects/{org}`. */
export type EndpointName = keyof ByName;

/** What sends requests for one caller. Throws for every response other than 2xx. */
export interface Transport<Headers> {
  send(method: Method, path: string, request: PlainRequest): Promise<PlainAnswer<Headers>>;
}

/** What opens streams of server-sent events. */
export interface StreamTransport {
  events(path: string, request: StreamRequest): AsyncIterable<SentEvent>;
}

/** A request as it is sent. What is undefined is left out. */
export interface PlainRequest {
  /** The names in the path, for `filledPath`. */
  readonly params?: Params | undefined;
  readonly query?: Query | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** A repetition under the same key makes the change only once. */
  readonly idempotencyKey?: string | undefined;
}

export interface StreamRequest extends Pick<PlainRequest, 'params' | 'query'> {
  /** Of the last event that was read. */
  readonly lastEventId?: string | undefined;
  /** Ends the stream, without an error. */
  readonly signal: AbortSignal;
}

export type Params = Readonly<Record<string, string | number>>;
export type Query = Readonly<Record<string, string | undefined>>;

interface PlainAnswer<Headers> {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined if there is none (204). */
  readonly body: unknown;
}

/** What a request of an endpoint holds. Its query is text. */
export type RequestOf<Name extends EndpointName> = Name extends EndpointName
  ? Part<'params', ParamsOf<ByName[Name]['path']>> &
      Part<'query', InputOf<ByName[Name]['input'], 'query'>> &
      Part<'body', InputOf<ByName[Name]['input'], 'body'>> & {
        readonly idempotencyKey?: ByName[Name]['input'] extends { readonly idempotencyKey: true }
          ? string | undefined
          : undefined;
      }
  : never;

/** The successful responses of an endpoint, a union by status. */
export type AnswerOf<Name extends EndpointName, Headers = unknown> = Name extends EndpointName
  ? Answers<ByName[Name]['responses'], Headers>
  : never;

/** The bodies of the successful responses of an endpoint. */
export type BodyOf<Name extends EndpointName> = AnswerOf<Name>['body'];

/** No request is conditional, so no response is 304. */
type AnswerStatus = 200 | 201 | 202 | 204;
type Answers<Responses extends ResponseSchemas, Headers> = {
  [Status in AnswerStatus & keyof Responses]: {
    readonly status: Status;
    readonly headers: Headers;
    readonly body: Responses[Status] extends z.ZodType ? z.output<Responses[Status]> : undefined;
  };
}[AnswerStatus & keyof Responses];

type InputOf<Input, Name extends 'query' | 'body'> =
  Input extends Readonly<Record<Name, z.ZodType>> ? z.input<Input[Name]> : never;

/** A part of a request: optional if nothing of it is required, absent if the endpoint has none. */
type Part<Name extends string, Input> = [Input] extends [never]
  ? { readonly [Only in Name]?: undefined }
  : object extends Exclude<Input, undefined>
    ? { readonly [Only in Name]?: Sent<Exclude<Input, undefined>> | undefined }
    : { readonly [Only in Name]: Sent<Input> };

/** An input as clients make it: read only, and what is optional may be undefined, which is not sent. */
type Sent<Input> = Input extends readonly (infer Item)[]
  ? readonly Sent<Item>[]
  : Input extends object
    ? {
        readonly [Key in keyof Input]: string extends keyof Input
          ? Sent<Input[Key]>
          : object extends Pick<Input, Key>
            ? Sent<Input[Key]> | undefined
            : Sent<Input[Key]>;
      }
    : Input;

type ParamsOf<Path extends string> = [NamesIn<Path>] extends [never]
  ? never
  : { readonly [Name in NamesIn<Path>]: string | number };
type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/** Optional if the endpoint requires nothing. */
type Requests<Name extends EndpointName> =
  object extends RequestOf<Name> ? [request?: RequestOf<Name>] : [request: RequestOf<Name>];

/** The list of secrets, whose query decides what it contains. */
type ListSecrets = 'GET /secrets/{org}/{project}/{env}';
type ListQuery = NonNullable<RequestOf<ListSecrets>['query']>;
type ListRequest<Form extends Partial<ListQuery>> = Omit<RequestOf<ListSecrets>, 'query'> &
  Part<'query', Omit<ListQuery, keyof Form> & Form>;
type ListAnswer<View, Headers> = Promise<Omit<AnswerOf<ListSecrets, Headers>, 'body'> & { readonly body: View }>;

/** Sends a request of an endpoint. Throws what the client throws, for every response other than 2xx. */
export function call<Headers>(
  client: Transport<Headers>,
  endpoint: ListSecrets,
  request: ListRequest<{ readonly deleted: 'true' }>,
): ListAnswer<DeletedSecretListView, Headers>;
export function call<Headers>(
  client: Transport<Headers>,
  endpoint: ListSecrets,
  request: ListRequest<{ readonly values: 'false'; readonly deleted?: undefined }>,
): ListAnswer<SecretKeyListView, Headers>;
export function call<Headers>(
  client: Transport<Headers>,
  endpoint: ListSecrets,
  request: ListRequest<{ readonly values?: 'true' | undefined; readonly deleted?: undefined }>,
): ListAnswer<SecretListView, Headers>;
export function call<Name extends EndpointName, Headers>(
  client: Transport<Headers>,
  endpoint: Name,
  ...[request]: Requests<Name>
): Promise<AnswerOf<Name, Headers>>;
export function call(
  client: Transport<unknown>,
  endpoint: EndpointName,
  request: PlainRequest = {},
): Promise<PlainAnswer<unknown>> {
  const [method, path] = partsOf(endpoint);
  return client.send(method, path, request);
}

/** An endpoint whose response may be a stream of server-sent events. */
type StreamName = {
  [Name in EndpointName]: ByName[Name]['responses'] extends { readonly events: z.ZodType } ? Name : never;
}[EndpointName];
type EventOf<Name extends StreamName> = z.output<ByName[Name]['responses']['events']>;

/** Opens a stream of events. It is not opened again when it ends: only the caller knows where to resume. */
export function streamOf<Name extends StreamName>(
  client: StreamTransport,
  endpoint: Name,
  request: Pick<RequestOf<Name>, 'params' | 'query'> & Omit<StreamRequest, 'params' | 'query'>,
): AsyncIterable<EventOf<Name>> {
  const [, path] = partsOf(endpoint);
  return client.events(path, request) as AsyncIterable<SentEvent & EventOf<Name>>;
}

function partsOf(endpoint: EndpointName): [method: Method, path: string] {
  return endpoint.split(' ') as [Method, string];
}

/**
 * A path of the contract with its names. Each stays one segment, whatever it contains. Undefined for a name that cannot be a
 * segment: an empty one, `.` and `..`, which no encoding hides.
 */
export function filledPath(path: string, params: Params = {}): string | undefined {
  const segments = path.split('/').map((segment) => {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    return name === undefined ? segment : encodeURIComponent(params[name] ?? '');
  });
  return segments.slice(1).some((segment) => /^\.{0,2}$/.test(segment)) ? undefined : segments.join('/');
}

/** The text of a query, with its question mark; empty if nothing of it is defined. */
export function queryText(query: Query = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, value);
  const text = given.toString();
  return text === '' ? '' : `?${text}`;
}
