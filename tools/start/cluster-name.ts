import { Client } from 'pg';

/** The cluster of every run: each run has a new one, which takes the place of the former. */
export const clusterName = 'dev';

/**
 * Forgets to which cluster the name belonged. The cluster of an earlier run is gone, and its name would else be free only 10
 * minutes after its last report. The first report of the new one replaces what the former reported.
 */
export async function takeClusterName(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('DELETE FROM cluster WHERE name = $1', [clusterName]);
  } finally {
    await client.end();
  }
}
