import { temporalSettings } from '../config/temporal.ts';
import { createDatabase } from '../db/driver/client.ts';
import { DomainError } from '../domain/frame/errors.ts';
import { lazyTemporalClient } from '../loops/temporal.ts';
import { readEndpoints } from './frame/endpoints.ts';
import { commandInitiator } from './frame/initiator.ts';
import { describeFailure, RemedyError } from './frame/remedy.ts';
import { OPERATIONS } from './operations/operations.ts';
import { dataDirectory } from './start/start-environment.ts';

/** `npm run operate -- COMMAND …`: operators' manual commands. Connects as the environment or DATA_DIR says. */
async function main(): Promise<0 | 1 | 2> {
  const [name, ...rest] = process.argv.slice(2);
  const operation = name !== undefined && Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name] : undefined;
  if (operation === undefined) throw new RemedyError(usage());
  const { databaseUrl, temporalAddress, temporalNamespace } = whereabouts();
  const database = createDatabase({ url: databaseUrl, maxConnections: 2, applicationName: 'operate' });
  const temporal = lazyTemporalClient(
    temporalSettings({ ...process.env, TEMPORAL_ADDRESS: temporalAddress, TEMPORAL_NAMESPACE: temporalNamespace }),
  );
  try {
    const print = (line: string) => process.stdout.write(`${line}\n`);
    return await operation.run({ database, temporal, initiator: commandInitiator(), arguments: rest, print });
  } finally {
    await temporal.close();
    await database.close();
  }
}

/**
 * The environment's settings if it names a database, otherwise those of the service started with this data directory.
 */
function whereabouts() {
  const { DATABASE_URL: url, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = process.env;
  const started = url ? undefined : readEndpoints(dataDirectory(process.env));
  return {
    databaseUrl: url || (started?.databaseUrl ?? ''),
    temporalAddress: address || (started?.temporalAddress ?? ''),
    temporalNamespace: namespace || (started?.temporalNamespace ?? ''),
  };
}

function usage(): string {
  const commands = Object.entries(OPERATIONS).map(([name, { summary }]) => `  ${name.padEnd(20)} ${summary}`);
  return ['Usage: npm run operate -- COMMAND', ...commands].join('\n');
}

main().then(
  (status) => process.exit(status),
  (error: unknown) => {
    // The service gives a reason for its refusals; any other error means that the command could not run.
    const isRefused = error instanceof DomainError;
    process.stderr.write(`${isRefused ? error.problems[0].message : describeFailure(error)}\n`);
    process.exit(isRefused ? 1 : 2);
  },
);
