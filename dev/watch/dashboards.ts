import { temporal, webhooks } from './behind-panels.ts';
import { type Dashboard, of, type Panel, quantile } from './grafana.ts';

// Figures about Postgres are the same in each process: the largest is taken, not the sum.

const RELEASED = ['direction="outgoing"', 'waiting_for="provider"', 'status="released"'];
const BY_WAIT = 'direction, waiting_for, status';
const WAIT = '{{direction}} {{status}}, for {{waiting_for}}';

const money: readonly Panel[] = [
  {
    title: 'What waits, and for what?',
    kind: 'bargauge',
    unit: 'short',
    legend: WAIT,
    query: `max by (${BY_WAIT}) (${of('transfers_waiting')})`,
  },
  {
    title: 'For how long has the oldest waited?',
    kind: 'bargauge',
    unit: 's',
    legend: WAIT,
    query: `max by (${BY_WAIT}) (${of('transfers_waiting_oldest_seconds')})`,
  },
  {
    title: 'How many released payments have no outcome yet?',
    kind: 'timeseries',
    unit: 'short',
    legend: 'released',
    query: `max(${of('transfers_waiting', ...RELEASED)}) or vector(0)`,
  },
  {
    title: 'For how long has the oldest released payment had no outcome?',
    kind: 'timeseries',
    unit: 's',
    legend: 'oldest',
    query: `max(${of('transfers_waiting_oldest_seconds', ...RELEASED)}) or vector(0)`,
  },
  {
    title: 'What do banks reject?',
    kind: 'timeseries',
    unit: 'short',
    legend: '{{provider}} {{operation}}',
    query: `sum by (provider, operation) (increase(${of('provider_requests_total', 'outcome="rejected"')}[$__rate_interval]))`,
  },
  {
    title: 'Which share of calls to a bank gets no usable answer?',
    kind: 'timeseries',
    unit: 'percentunit',
    legend: '{{provider}}',
    query:
      `sum by (provider) (rate(${of('provider_requests_total', 'outcome=~"timeout|unavailable|not-understood|error"')}[$__rate_interval]))` +
      ` / sum by (provider) (rate(${of('provider_requests_total')}[$__rate_interval]))`,
  },
  {
    title: 'Money out: what became of payments?',
    kind: 'timeseries',
    unit: 'short',
    legend: '{{type}}',
    query: `max by (type) (increase(${of('transitions_total', 'module="outgoing-transfers"')}[$__rate_interval]))`,
  },
  {
    title: 'Money in: what became of it?',
    kind: 'timeseries',
    unit: 'short',
    legend: '{{type}}',
    query: `max by (type) (increase(${of('transitions_total', 'module="incoming-transfers"')}[$__rate_interval]))`,
  },
  {
    title: 'Do the books hold?',
    kind: 'stat',
    unit: 'short',
    legend: 'breaches',
    query: `max(${of('ledger_check_violations')})`,
  },
  {
    title: 'How many breaks with the books of banks are open?',
    kind: 'stat',
    unit: 'short',
    legend: 'breaks',
    query: `max(${of('reconciliation_breaks_open')})`,
  },
  {
    title: 'Which accounts wait for their bank?',
    kind: 'bargauge',
    unit: 'short',
    legend: '{{change}}',
    query: `max by (change) (${of('account_connections_waiting')})`,
  },
  {
    title: 'How long does a bank take to answer (95 % within)?',
    kind: 'timeseries',
    unit: 's',
    legend: '{{provider}}',
    query: quantile(0.95, 'provider_request_duration_seconds', 'provider'),
  },
];

const service: readonly Panel[] = [
  {
    title: 'Which share of the error budget of 30 days is spent?',
    kind: 'bargauge',
    unit: 'percentunit',
    legend: '{{slo}}',
    query: 'slo:sli_error:ratio_rate30d / slo:error_budget:ratio',
  },
  {
    title: 'How fast do error budgets burn (1: they last)?',
    kind: 'timeseries',
    unit: 'short',
    legend: '{{slo}}',
    query: 'slo:sli_error:ratio_rate1h / slo:error_budget:ratio',
  },
  {
    title: 'Requests by route',
    kind: 'timeseries',
    unit: 'reqps',
    legend: '{{method}} {{route}}',
    query: `sum by (method, route) (rate(${of('http_request_duration_seconds_count')}[$__rate_interval]))`,
  },
  {
    title: 'Failures by route',
    kind: 'timeseries',
    unit: 'reqps',
    legend: '{{method}} {{route}} {{status}}',
    query: `sum by (method, route, status) (rate(${of('http_request_duration_seconds_count', 'status=~"5..|429"')}[$__rate_interval]))`,
  },
  {
    title: 'How long does a route take (99 % within)?',
    kind: 'timeseries',
    unit: 's',
    legend: '{{method}} {{route}}',
    query: quantile(0.99, 'http_request_duration_seconds', 'method, route'),
  },
  {
    title: 'When did each loop last succeed?',
    kind: 'timeseries',
    unit: 's',
    legend: '{{loop}}',
    query: `time() - max by (loop) (${of('loop_last_success_timestamp_seconds')})`,
  },
  {
    title: 'How old is the oldest wake-up that Temporal has not got?',
    kind: 'timeseries',
    unit: 's',
    legend: 'oldest',
    query: `max(${of('relay_lag_seconds')})`,
  },
  {
    title: 'How old is the oldest event without a position?',
    kind: 'timeseries',
    unit: 's',
    legend: 'oldest',
    query: `max(${of('event_numbering_lag_seconds')})`,
  },
  {
    title: 'How long do calls wait for a connection to Postgres (95 % within)?',
    kind: 'timeseries',
    unit: 's',
    legend: '{{pool}}',
    query: quantile(0.95, 'database_connection_wait_seconds', 'pool'),
  },
  {
    title: 'How many calls wait for a connection?',
    kind: 'timeseries',
    unit: 'reqps',
    legend: '{{pool}}',
    query: `sum by (pool) (rate(${of('database_connection_wait_seconds_count')}[$__rate_interval]))`,
  },
  {
    title: 'Rejections that an attack would cause',
    kind: 'timeseries',
    unit: 'reqps',
    legend: '{{reason}}',
    query: `sum by (reason) (rate(${of('security_rejections_total')}[$__rate_interval]))`,
  },
  {
    title: 'For how long is a process busy before it takes the next event (99 % within)?',
    kind: 'timeseries',
    unit: 's',
    legend: '{{job}} {{instance}}',
    query: of('nodejs_eventloop_lag_p99_seconds'),
  },
  {
    title: 'CPU by process, of one core',
    kind: 'timeseries',
    unit: 'percentunit',
    legend: '{{job}} {{instance}}',
    query: `rate(${of('process_cpu_seconds_total')}[$__rate_interval])`,
  },
];

/** Questions of money first, the machine's last. */
export const DASHBOARDS: readonly Dashboard[] = [
  { uid: 'financial-accounts-money', title: '1 Money', panels: money },
  { uid: 'financial-accounts-service', title: '2 Service', panels: service },
  { uid: 'financial-accounts-webhooks', title: '3 Webhooks', panels: webhooks },
  { uid: 'financial-accounts-temporal', title: '4 Temporal', panels: temporal },
];
