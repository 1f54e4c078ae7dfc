import { test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { LogHarness } from './log-harness.js';
import { Group } from './bus.conformance.js';
test('x', async () => {
  const h = await LogHarness.start();
  const g = new Group(h);
  await h.ask();
  const c = g.consumer();
  const m = await g.join([c]);
  for (let i = 0; i < 4; i++) { await sleep(500); console.log(m.health(), c.begun.length, c.done.length); }
  await g.stop(); await h.stop();
});
