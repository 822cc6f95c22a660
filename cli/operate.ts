import { DomainError } from '../domain/common/errors.ts';
import { ActionableError, describeFailure } from './common/actionable-error.ts';
import { commandInitiator } from './common/initiator.ts';
import { withConnections } from './operations/connection.ts';
import { OPERATOR_COMMANDS } from './operations/declarations/commands.ts';
import { OPERATIONS } from './operations/operations.ts';
import { usageOf } from './program/command.ts';

/** `npm run operate -- COMMAND …`: operators' manual commands under the names of their own. Connects as the environment or DATA_DIR says. */
async function main(): Promise<0 | 1 | 2> {
  const [name, ...rest] = process.argv.slice(2);
  const operation = name !== undefined && Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name] : undefined;
  if (operation === undefined) throw new ActionableError(usage());
  return withConnections(process.env, (connections) => {
    const print = (line: string) => process.stdout.write(`${line}\n`);
    return operation.run({ ...connections, initiator: commandInitiator(), arguments: rest, print });
  });
}

function usage(): string {
  const commands = OPERATOR_COMMANDS.flatMap((command) => [
    `  ${command.operate.join(' ')} ${usageOf(command)}`.trimEnd(),
    `      ${command.summary}`,
  ]);
  return ['Usage: npm run operate -- COMMAND', ...commands].join('\n');
}

main().then(
  (status) => process.exit(status),
  (error: unknown) => {
    // The service gives a reason for its rejections; any other error means that the command could not run.
    const isRejected = error instanceof DomainError;
    process.stderr.write(`${isRejected ? error.problems[0].message : describeFailure(error)}\n`);
    process.exit(isRejected ? 1 : 2);
  },
);
