import { join } from 'node:path';
import { outputOf } from '../../../dev/common/user-cache.ts';
import { pythonEnvironment } from '../../tools/python-environment.ts';

const VERSION = '4.1.5';
/** Of the major release that the embedded Postgres is, with the programs that it lacks: pg_basebackup, pg_rewind, pg_controldata. */
const PACKAGES = [`patroni[etcd3]==${VERSION}`, 'psycopg2-binary==2.9.11', 'embedded-postgres==18.6.3'];

export interface Patroni {
  readonly patroni: string;
  /** The folder of the programs of Postgres. */
  readonly binaries: string;
}

/** Patroni and a whole Postgres in the user's cache; null without a suitable Python. */
export async function patroniPrograms(onProgress: (line: string) => void): Promise<Patroni | null> {
  const commands = await pythonEnvironment({ name: 'Patroni', version: VERSION, packages: PACKAGES }, onProgress);
  if (commands === null) return null;
  const script =
    'import embedded_postgres; from pathlib import Path; print(Path(embedded_postgres.__file__).parent / "pginstall" / "bin")';
  const binaries = outputOf(join(commands, 'python'), ['-c', script])?.trim();
  if (binaries === undefined) throw new Error('The programs of Postgres are not where they should be.');
  return { patroni: join(commands, 'patroni'), binaries };
}
