import { parseArgs } from 'node:util';
import { loadConfiguration } from '../../config/configuration.ts';
import { type BankRestore, listBankRestores } from '../../db/bank-files/restores.ts';
import { type Closure, closeSubmissions, closureInWords, openSubmissions } from '../../db/providers/submissions.ts';
import { checkText } from '../../domain/common/parties/names.ts';
import { ActionableError } from '../common/actionable-error.ts';
import { type Operation, type OperationContext, showRejection } from './operation.ts';
import { heldInWords } from './restores/held-at-banks.ts';

const COMMANDS = ['close', 'open'] as const;
const REASON_LENGTH_MAX = 200;

/** The emergency stop: needs only Postgres. */
export const submissions: Operation = {
  async run({ database, initiator, arguments: given, configuration, print, reject }) {
    const { command, reason, isJson } = readCommand(given);
    const held = command === 'open' ? await listBankRestores(database.reader) : [];
    const settings = held.length === 0 ? null : (configuration ?? loadConfiguration(process.env));
    const carryOut = command === 'close' ? closeSubmissions : openSubmissions;
    try {
      const { changed, closure } = await database.transaction((tx) => carryOut(tx, reason, initiator));
      const status = closure === null ? 'open' : 'closed';
      if (isJson)
        print(
          JSON.stringify({ submissions: status, result: changed ? status : 'unchanged', closure, ...heldOf(held) }),
        );
      else print(changed ? DONE[command] : unchanged(closure));
      if (!isJson && settings !== null) for (const one of held) print(heldInWords(one, settings));
      return 0;
    } catch (error) {
      return showRejection({ print, reject }, { error, isJson, subject: {} });
    }
  },
};

function heldOf(held: readonly BankRestore[]) {
  if (held.length === 0) return {};
  return { heldAtBanks: held.map(({ provider, heldPayments, heldFiles }) => ({ provider, heldPayments, heldFiles })) };
}

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
  if (command === undefined || more.length > 0) throw new ActionableError('Give close or open.');
  const checked = checkText(values.reason ?? '', REASON_LENGTH_MAX);
  if (typeof checked === 'string') {
    throw new ActionableError(`Give --reason a line of up to ${REASON_LENGTH_MAX} characters.`);
  }
  return { command, reason: checked.value, isJson: values.json };
}
