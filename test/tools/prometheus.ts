import { goPrograms } from '../../dev/servers/go-programs.ts';

/** The releases of docker-compose.yml. Prometheus 3.16.0 is the module's 0.316.0. */
export const PROMETHEUS_VERSION = '3.16.0';
export const ALERTMANAGER_VERSION = '0.32.3';

const BUILD = {
  version: PROMETHEUS_VERSION.replace('3.', '0.3'),
  // The libraries of a dozen clouds are most of it; ours finds processes by DNS.
  tags: ['remove_all_sd', 'enable_dns_sd'],
} as const;

/** Path of the server: cached, or built with Go. */
export async function prometheusServer(onProgress: (line: string) => void): Promise<string> {
  const pathOf = await goPrograms(
    {
      ...BUILD,
      title: 'Prometheus server',
      neededFor: 'the test of deploy/grafana',
      packages: { prometheus: 'github.com/prometheus/prometheus/cmd/prometheus' },
    },
    onProgress,
  );
  return pathOf('prometheus');
}

/** Path of promtool, which checks Prometheus' files and runs their tests: cached, or built with Go. */
export async function promtool(onProgress: (line: string) => void): Promise<string> {
  const pathOf = await goPrograms(
    {
      title: 'checker of alerts',
      ...BUILD,
      neededFor: 'the test of deploy/prometheus',
      packages: { promtool: 'github.com/prometheus/prometheus/cmd/promtool' },
    },
    onProgress,
  );
  return pathOf('promtool');
}

/** Path of amtool, which checks Alertmanager's configuration: cached, or built with Go. */
export async function amtool(onProgress: (line: string) => void): Promise<string> {
  const pathOf = await goPrograms(
    {
      title: 'checker of alert routes',
      neededFor: 'the test of deploy/alertmanager',
      version: ALERTMANAGER_VERSION,
      packages: { amtool: 'github.com/prometheus/alertmanager/cmd/amtool' },
    },
    onProgress,
  );
  return pathOf('amtool');
}
