import { Counter, Registry } from 'prom-client';
import { loopLastSuccess } from '../../loops/metrics.ts';

/** Metrics of the runner of lists, exposed by the console's process. */
export const remedyListMetrics = new Registry();

/** Those of its own loop; the others run elsewhere. */
remedyListMetrics.registerMetric(loopLastSuccess);

export const remedyListItems = new Counter({
  name: 'remedy_list_items_total',
  help: 'Items of signed lists of remedies, by what came of them.',
  labelNames: ['result'] as const,
  registers: [remedyListMetrics],
});
