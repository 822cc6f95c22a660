import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GoPrograms, goPrograms } from '../../dev/servers/go-programs.ts';
import { PROJECT_DIRECTORY } from '../tools/run/commands.ts';

/** Path of helm, which renders deploy/helm: cached, or built with Go. */
export async function helm(onProgress: (line: string) => void): Promise<string> {
  const pathOf = await goPrograms(
    {
      title: 'installer of charts',
      neededFor: 'the test of deploy/helm',
      version: '3.22.0',
      packages: { helm: 'helm.sh/helm/v3/cmd/helm' },
      probe: 'version',
    },
    onProgress,
  );
  return pathOf('helm');
}

/** Path of our reader of manifests, with the types of Kubernetes, the Prometheus operator and KEDA. */
export const manifestReader = (onProgress: (line: string) => void) =>
  ownProgram('manifests', 'test/deployment', {
    title: 'reader of manifests',
    neededFor: 'the test of deploy/helm',
    onProgress,
  });

/** Path of the program of a folder's module of its name: cached by its files, or built with Go. */
export async function ownProgram(
  name: string,
  parent: string,
  options: Pick<GoPrograms<string>, 'title' | 'neededFor' | 'variables'> & { onProgress(line: string): void },
): Promise<string> {
  const { onProgress, ...program } = options;
  const folder = join(PROJECT_DIRECTORY, parent, name);
  const hash = createHash('sha256');
  for (const file of readdirSync(folder).sort()) hash.update(readFileSync(join(folder, file)));
  for (const variable of options.variables ?? []) hash.update(variable);
  const version = hash.digest('hex').slice(0, 12);
  const pathOf = await goPrograms({ ...program, version, folder, packages: { [name]: '.' } }, onProgress);
  return pathOf(name);
}
