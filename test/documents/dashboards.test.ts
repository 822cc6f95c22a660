import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DASHBOARDS } from '../../dev/watch/dashboards.ts';
import { dashboardJson, SELECTOR } from '../../dev/watch/grafana.ts';
import { askedBy } from '../processes/asked-metrics.ts';
import { ROOT, readDocument } from './printed.ts';

// deploy/grafana/dashboards is printed from dev/watch/, with UPDATE_DOCUMENTS=1. test/processes/watch.long.test.ts asks a running service for
// every metric and label, and a Prometheus that scrapes it for each panel.

const FOLDER = join(ROOT, 'deploy/grafana/dashboards');

test.each(DASHBOARDS)('$uid is printed from its table', (dashboard) => {
  const path = join(FOLDER, `${dashboard.uid.replace('financial-accounts-', '')}.json`);
  if (process.env.UPDATE_DOCUMENTS === '1') {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(path, dashboardJson(dashboard));
  }
  expect(readFileSync(path, 'utf8')).toBe(dashboardJson(dashboard));
});

test('the folder has no dashboard without a table', () => {
  const names = DASHBOARDS.map(({ uid }) => `${uid.replace('financial-accounts-', '')}.json`);
  expect(readdirSync(FOLDER).sort()).toEqual(names.sort());
});

test('every metric of ours is asked for by job and namespace, and those that rules record exist', () => {
  const rules = readDocument('deploy/prometheus/slo.yml');
  for (const { query } of DASHBOARDS.flatMap(({ panels }) => panels)) {
    const asked = askedBy(query);
    expect(asked.length, query).toBeGreaterThan(0);
    const own = asked.filter(({ metric }) => !metric.includes(':'));
    expect(query.split(SELECTOR).length - 1, query).toBe(own.length);
    for (const { metric } of asked.filter((one) => !own.includes(one))) expect(rules).toContain(`record: ${metric}\n`);
  }
});

test('every series has its labels in its name, so that two look different', () => {
  for (const { query, legend, title } of DASHBOARDS.flatMap(({ panels }) => panels)) {
    const shown = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
    const grouped = /\bby \((?:le, )?([^)]*)\)/.exec(query)?.[1]?.split(', ') ?? [];
    for (const label of grouped) expect(shown, title).toContain(label);
  }
});

test('money comes first, CPU last', () => {
  const titles = DASHBOARDS.flatMap(({ panels }) => panels.map(({ title }) => title));
  expect(DASHBOARDS[0]?.uid).toBe('financial-accounts-money');
  expect(titles[0]).toBe('What waits, and for what?');
  expect(DASHBOARDS.find(({ uid }) => uid === 'financial-accounts-service')?.panels.at(-1)?.title).toContain('CPU');
});
