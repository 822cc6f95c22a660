import { of, type Panel, quantile } from './grafana.ts';

export const temporal: readonly Panel[] = [
  {
    title: 'How long has the oldest task waited in its queue?',
    kind: 'timeseries',
    unit: 's',
    legend: '{{task_queue}}',
    query: `max by (task_queue) (${of('task_queue_lag_seconds')})`,
  },
  {
    title: 'How many tasks wait?',
    kind: 'timeseries',
    unit: 'short',
    legend: '{{task_queue}}',
    query: `max by (task_queue) (${of('task_queue_backlog')})`,
  },
  {
    title: 'Workflow tasks: from schedule to start (95 % within)',
    kind: 'timeseries',
    unit: 's',
    legend: '{{task_queue}}',
    query: quantile(0.95, 'temporal_workflow_task_schedule_to_start_latency_seconds', 'task_queue'),
  },
  {
    title: 'Activities: from schedule to start (95 % within)',
    kind: 'timeseries',
    unit: 's',
    legend: '{{task_queue}}',
    query: quantile(0.95, 'temporal_activity_schedule_to_start_latency_seconds', 'task_queue'),
  },
  {
    title: 'Which share of slots is in use?',
    kind: 'timeseries',
    unit: 'percentunit',
    legend: '{{task_queue}} {{worker_type}}',
    query:
      `sum by (task_queue, worker_type) (${of('temporal_worker_task_slots_used')})` +
      ` / (sum by (task_queue, worker_type) (${of('temporal_worker_task_slots_used')}) + sum by (task_queue, worker_type) (${of('temporal_worker_task_slots_available')}))`,
  },
  {
    title: 'Pollers',
    kind: 'timeseries',
    unit: 'short',
    legend: '{{task_queue}} {{poller_type}}',
    query: `sum by (task_queue, poller_type) (${of('temporal_num_pollers')})`,
  },
  {
    title: 'Calls to Temporal that fail',
    kind: 'timeseries',
    unit: 'reqps',
    legend: '{{operation}} {{status_code}}',
    query: `sum by (operation, status_code) (rate(${of('temporal_request_failure_total')}[$__rate_interval]))`,
  },
  {
    title: 'How long do calls to Temporal take (95 % within)?',
    kind: 'timeseries',
    unit: 's',
    legend: '{{operation}}',
    query: quantile(0.95, 'temporal_request_latency_seconds', 'operation'),
  },
];

export const webhooks: readonly Panel[] = [
  {
    title: 'How old is the oldest webhook that is not delivered?',
    kind: 'timeseries',
    unit: 's',
    legend: 'oldest',
    query: `max(${of('webhook_undelivered_oldest_seconds')})`,
  },
  {
    title: 'For how long has the oldest failing receiver failed?',
    kind: 'timeseries',
    unit: 's',
    legend: 'oldest',
    query: `max(${of('webhook_subscriptions_failing_oldest_seconds')})`,
  },
  {
    title: 'How many webhooks are not delivered?',
    kind: 'timeseries',
    unit: 'short',
    legend: 'undelivered',
    query: `max(${of('webhook_undelivered')})`,
  },
  {
    title: 'How many are due now?',
    kind: 'timeseries',
    unit: 'short',
    legend: 'due',
    query: `max(${of('webhook_backlog')})`,
  },
  {
    title: 'Attempts by what became of the delivery',
    kind: 'timeseries',
    unit: 'reqps',
    legend: '{{status}}',
    query: `sum by (status) (rate(${of('webhook_attempts_total')}[$__rate_interval]))`,
  },
  {
    title: 'Subscriptions that fail',
    kind: 'timeseries',
    unit: 'short',
    legend: 'failing',
    query: `max(${of('webhook_subscriptions_failing')})`,
  },
  {
    title: 'Subscriptions that were disabled',
    kind: 'stat',
    unit: 'short',
    legend: 'disabled',
    query: `max(${of('webhook_subscriptions_disabled')})`,
  },
];
