import { request } from 'node:http';

// A process of its own, so that taking the answers keeps no test from measuring: reads a URL with a token, so many times
// at once, throws the bodies away and prints how often each status came.
const [url = '', count = '', token = ''] = process.argv.slice(2);

function read(): Promise<number> {
  return new Promise((resolve, reject) => {
    const reading = request(url, { headers: { authorization: `Bearer ${token}` }, agent: false }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
      response.once('error', reject);
    });
    reading.once('error', reject).end();
  });
}

const statuses = await Promise.all(Array.from({ length: Number(count) }, read));
const counts = Object.groupBy(statuses, String);
process.stdout.write(
  JSON.stringify(Object.fromEntries(Object.entries(counts).map(([key, of = []]) => [key, of.length]))),
);
