import { commandInitiator } from '../common/initiator.ts';
import { type CommandContext, type Run, titleOf } from '../program/command.ts';
import { CommandFailure } from '../program/exit-statuses.ts';
import { type Connections, withConnections } from './connection.ts';
import { OPERATIONS } from './operations.ts';

interface Declared {
  /** Its name under `npm run operate`, with the first words of its arguments. */
  readonly operate: readonly [name: string, ...words: readonly string[]];
  readonly isText?: true;
}

/** Runs what `npm run operate` runs under another name. */
export function runOperation({ operate: [name, ...words], isText }: Declared): Run {
  return async (context) => {
    const { environment, output } = context;
    const operation = OPERATIONS[name];
    if (operation === undefined) throw new Error(`There is no operation ${name}`);
    const lines: string[] = [];
    const isWrapped = output.isJson && isText === true;
    const given = [...words, ...argumentsOf(context), ...(output.isJson && !isText ? ['--json'] : [])];
    const progress = output.progress(titleOf(context.command));
    const work = (connections: Connections) =>
      operation.run({
        ...connections,
        initiator: commandInitiator(),
        arguments: given,
        print: (line) => {
          if (isWrapped) lines.push(line);
          else output.line(line);
        },
        reject: (message, subject) => {
          throw new CommandFailure('rejected', message, { ...subject });
        },
        progressed: progress.update,
      });
    const status = await withConnections(environment, work).finally(progress.end);
    if (isWrapped) output.show({ lines }, []);
    return status;
  };
}

/** What was given, as the operation reads it: what begins with a hyphen stays a value. */
function argumentsOf({ given }: CommandContext): string[] {
  const options = Object.entries(given.options).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (value === true) return [`--${name}`];
    return (typeof value === 'string' ? [value] : value).map((text) => `--${name}=${text}`);
  });
  return [...given.operands, ...options];
}
