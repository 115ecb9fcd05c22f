import { describe, expect, test } from '@jest/globals';
import { judgeReport } from '../../../tools/fuzz/fuzz-report.ts';
import { narrowDocument } from '../../../tools/fuzz/narrow-document.ts';

const operation = 'GET /api/v1/me';

function scenario(status: string, answered: number, method = 'GET'): object {
  return {
    ScenarioFinished: {
      recorder: {
        label: operation,
        checks: { a: [{ name: 'ignored_auth', status, failure_info: { failure: { title: 'Let in', message: '' } } }] },
        interactions: { a: { request: { method, uri: '/' }, response: { status_code: answered } } },
      },
    },
  };
}
const end = { EngineFinished: { stop_reason: 'completed' } };
const judge = (...events: object[]): ReturnType<typeof judgeReport> =>
  judgeReport(events.map((event) => JSON.stringify(event)).join('\n'), {
    operations: [operation],
    checks: ['ignored_auth'],
  });

describe('a report of the fuzzer', () => {
  test('counts a check that held every time and an operation that did its work', () => {
    expect(judge(scenario('success', 401), scenario('success', 200), end)).toEqual({
      passed: 2,
      failed: 0,
      faults: [],
    });
  });

  test('counts a check that failed once as failed, and says what was answered', () => {
    const result = judge(scenario('success', 200), scenario('failure', 418), scenario('success', 200), end);
    expect(result).toMatchObject({ passed: 1, failed: 1 });
    expect(result.faults).toEqual([`${operation}: ignored_auth: Let in  (answered 418)`]);
  });

  test('names an operation that was never answered with 2xx', () => {
    const result = judge(scenario('success', 404), scenario('success', 200, 'POST'), end);
    expect(result).toMatchObject({ passed: 1, failed: 1, faults: [`${operation}: was never answered with 2xx`] });
  });

  test('names an operation that was answered with 2xx although the caller may not do it', () => {
    const judged = (answered: number): ReturnType<typeof judgeReport> =>
      judgeReport([scenario('success', answered), end].map((event) => JSON.stringify(event)).join('\n'), {
        operations: [operation],
        checks: ['ignored_auth'],
        refused: new Set([operation]),
      });
    expect(judged(403)).toMatchObject({ passed: 2, failed: 0 });
    expect(judged(204)).toMatchObject({ passed: 1, failed: 1, faults: [`${operation}: was answered with 2xx`] });
  });

  test('fails what was never checked', () => {
    expect(judge(end)).toMatchObject({ passed: 0, failed: 2 });
  });

  test('fails for an error of the fuzzer itself, and for a run that did not end', () => {
    const error = { NonFatalError: { label: operation, value: { message: 'Too slow\nmore' } } };
    const done = scenario('success', 200);
    expect(judge(done, error, end)).toMatchObject({ passed: 2, failed: 1, faults: [`${operation}: Too slow`] });
    expect(judge(done)).toMatchObject({ passed: 2, failed: 1, faults: ['the run did not come to its end'] });
    expect(judge(done, { EngineFinished: { stop_reason: 'interrupted' } })).toMatchObject({ failed: 1 });
  });
});

test('the fuzzer gets the names of what exists: of the operation before the resource, of the resource before all', () => {
  const parameter = (name: string): { name: string; in: string; schema: object } => ({
    name,
    in: 'path',
    schema: { type: 'string' },
  });
  const get = { parameters: [parameter('org'), parameter('id'), parameter('key')] };
  const remove = { parameters: [parameter('org'), parameter('id')] };
  const body = { properties: { id: {}, other: { type: 'string' } } };
  const json = { schema: { $ref: '#/components/schemas/Thing' }, example: { other: 'of the page' } };
  const post = { requestBody: { content: { 'application/json': json } } };
  narrowDocument(
    { paths: { '/api/v1/things/{org}/{id}': { get, delete: remove, post } }, components: { schemas: { Thing: body } } },
    {
      path: { org: 'acme', id: 'any', key: 'KEY' },
      resources: { things: { id: 'thing' } },
      operations: { 'DELETE /things/{org}/{id}': { id: 'doomed' } },
      body: { id: 'thing' },
      examples: { 'POST /things/{org}/{id}': { other: 'valid' } },
    },
  );
  expect(json.example).toEqual({ other: 'valid' });
  expect(get.parameters.map(({ schema }) => schema)).toEqual([
    { enum: ['acme'] },
    { enum: ['thing'] },
    { anyOf: [{ enum: ['KEY'] }, { type: 'string' }] },
  ]);
  expect(remove.parameters.map(({ schema }) => schema)).toEqual([{ enum: ['acme'] }, { enum: ['doomed'] }]);
  expect(body.properties).toEqual({ id: { enum: ['thing'] }, other: { type: 'string' } });
});
