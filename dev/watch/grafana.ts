/** The JSON of Grafana's dashboards, from tables: what is asked, by which queries, in which unit. */
export interface Panel {
  /** The question. */
  readonly title: string;
  readonly kind: 'timeseries' | 'stat' | 'bargauge';
  readonly unit: 'short' | 's' | 'percentunit' | 'reqps';
  /** The text of each series, of its labels: `{{provider}}`. Without one, Grafana's. */
  readonly legend: string;
  readonly query: string;
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** Prometheus' own labels: every metric is asked for by them, so that one Prometheus may watch several installations. */
export const SELECTOR = 'job=~"$job",namespace=~"$namespace"';

/** A metric with the variables' labels and more. */
export function of(metric: string, ...conditions: readonly string[]): string {
  return `${metric}{${[SELECTOR, ...conditions].join(',')}}`;
}

/** A quantile of a histogram. */
export function quantile(share: number, histogram: string, by: string, ...conditions: readonly string[]): string {
  const buckets = of(`${histogram}_bucket`, ...conditions);
  return `histogram_quantile(${share}, sum by (le, ${by}) (rate(${buckets}[$__rate_interval])))`;
}

const DATASOURCE = { type: 'prometheus', uid: '$datasource' };
const COLUMNS = 2;
const GRID_WIDTH = 24;
const WIDTH = GRID_WIDTH / COLUMNS;
const HEIGHT = 8;

export function dashboardJson({ uid, title, panels }: Dashboard): string {
  const dashboard = {
    uid,
    title,
    tags: ['financial-accounts-service'],
    schemaVersion: 39,
    editable: false,
    refresh: '30s',
    time: { from: 'now-24h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus' },
        variable('namespace', 'label_values(up, namespace)'),
        variable('job', 'label_values(up{namespace=~"$namespace"}, job)'),
      ],
    },
    panels: panels.map((panel, place) => ({
      id: place + 1,
      title: panel.title,
      type: panel.kind,
      datasource: DATASOURCE,
      gridPos: { x: (place % COLUMNS) * WIDTH, y: Math.floor(place / COLUMNS) * HEIGHT, w: WIDTH, h: HEIGHT },
      fieldConfig: { defaults: { unit: panel.unit, min: 0 }, overrides: [] },
      targets: [
        {
          refId: 'A',
          datasource: DATASOURCE,
          expr: panel.query,
          legendFormat: panel.legend,
          // The present only, where no course of time is shown.
          instant: panel.kind !== 'timeseries',
        },
      ],
    })),
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

function variable(name: string, query: string) {
  return {
    name,
    type: 'query',
    datasource: DATASOURCE,
    query,
    refresh: 2,
    multi: true,
    includeAll: true,
    allValue: '.*',
    current: { text: 'All', value: '$__all' },
  };
}
