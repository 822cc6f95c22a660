import { parseArgs } from 'node:util';
import { type Closure, closeSubmissions, closureInWords, openSubmissions } from '../../db/providers/submissions.ts';
import { checkText } from '../../domain/frame/parties/names.ts';
import { RemedyError } from '../frame/remedy.ts';
import type { Operation, OperationContext } from './operations.ts';
import { showRefusal } from './refusals.ts';

const COMMANDS = ['close', 'open'] as const;
const REASON_LENGTH_MAX = 200;

/** The emergency stop: needs Postgres alone. */
export const submissions: Operation = {
  summary: 'close | open, --reason TEXT: stops all payments and returns to all providers, and lets them go on.',
  async run({ database, initiator, arguments: given, print }) {
    const { command, reason, isJson } = readCommand(given);
    const carryOut = command === 'close' ? closeSubmissions : openSubmissions;
    try {
      const { changed, closure } = await database.transaction((tx) => carryOut(tx, reason, initiator));
      const status = closure === null ? 'open' : 'closed';
      if (isJson) print(JSON.stringify({ submissions: status, result: changed ? status : 'unchanged', closure }));
      else print(changed ? DONE[command] : unchanged(closure));
      return 0;
    } catch (error) {
      return showRefusal({ print }, { error, isJson, subject: {} });
    }
  },
};

const DONE = {
  close:
    'Submissions are closed: no worker begins a payment or a return. One that was begun may still end within thirty seconds.',
  open: 'Submissions are open: what waited goes out within about a minute.',
} as const;

function unchanged(closure: Closure | null): string {
  return `Nothing changes: ${closure === null ? 'submissions are open.' : `${closureInWords(closure)}.`}`;
}

function readCommand(given: OperationContext['arguments']) {
  const { values, positionals } = parseArgs({
    args: [...given],
    options: { reason: { type: 'string' }, json: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const [name, ...more] = positionals;
  const command = COMMANDS.find((known) => known === name);
  if (command === undefined || more.length > 0) throw new RemedyError('Give close or open.');
  const checked = checkText(values.reason ?? '', REASON_LENGTH_MAX);
  if (typeof checked === 'string') {
    throw new RemedyError(`Give --reason a line of up to ${REASON_LENGTH_MAX} characters.`);
  }
  return { command, reason: checked.value, isJson: values.json };
}
