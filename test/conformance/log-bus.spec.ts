import { describeBus } from './bus.conformance.js';
import { LogHarness } from './log-harness.js';

describeBus('the log', () => LogHarness.start());
