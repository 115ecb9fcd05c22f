import { expect, test } from '@jest/globals';
import { Metrics } from '../../../src/observability/metrics.ts';

test('the length of the audit queue and the open streams are read at each scrape', async () => {
  const metrics = new Metrics();
  let count = 3;
  metrics.observeAuditQueue(() => count);
  metrics.observeChangeStreams(() => count + 1);
  expect(await metrics.render()).toMatch(/^keyframe_audit_queue_length 3$/m);
  count = 5;
  const text = await metrics.render();
  expect(text).toMatch(/^keyframe_audit_queue_length 5$/m);
  expect(text).toMatch(/^keyframe_change_streams 6$/m);
});
