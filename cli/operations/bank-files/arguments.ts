import { parseArgs } from 'node:util';
import { type Configuration, loadConfiguration } from '../../../config/configuration.ts';
import { findFilesNamed, findShownFile, type ShownFile } from '../../../db/bank-files/by-hand/reads.ts';
import type { Reader } from '../../../db/query/database.ts';
import { asId, type BankFileId, isUuid } from '../../../domain/common/ids.ts';
import { checkText, REASON_LENGTH_MAX } from '../../../domain/common/parties/names.ts';
import { ActionableError } from '../../common/actionable-error.ts';
import type { OperationContext } from '../operation.ts';

const TEXTS = ['bank', 'direction', 'state', 'since', 'content', 'to', 'digest', 'reason', 'says'] as const;
type TextName = (typeof TEXTS)[number];

/** What was given to a command of `bank-files`. */
export interface Request extends OperationContext {
  readonly operands: readonly string[];
  readonly options: Readonly<Partial<Record<TextName, string>>> & { readonly payment: readonly string[] };
  readonly isJson: boolean;
  readonly settings: Configuration;
  /** Prints the outcome, as JSON with `--json`. */
  show(outcome: object, text: string): void;
}

/** Reads `NAME operands options`; options that the command does not take are rejected. */
export function readRequest(context: OperationContext): readonly [name: string, request: Request] {
  const { values, positionals } = parseArgs({
    args: [...context.arguments],
    options: {
      json: { type: 'boolean', default: false },
      payment: { type: 'string', multiple: true, default: [] },
      ...Object.fromEntries(TEXTS.map((name) => [name, { type: 'string' as const }])),
    },
    allowPositionals: true,
  });
  const [name = '', ...operands] = positionals;
  const texts = Object.fromEntries(
    Object.entries(values).flatMap(([option, value]) => (typeof value === 'string' ? [[option, value]] : [])),
  );
  const isJson = values.json === true;
  const payment = Array.isArray(values.payment) ? values.payment.map(String) : [];
  const request: Request = {
    ...context,
    operands,
    options: { ...texts, payment },
    isJson,
    settings: context.configuration ?? loadConfiguration(process.env),
    show: (outcome, text) => context.print(isJson ? JSON.stringify(outcome) : text),
  };
  return [name, request];
}

/** Who asks, with the reason that is kept in the audit log. */
export function reasoned({ initiator, options }: Request) {
  const checked = checkText(options.reason ?? '', REASON_LENGTH_MAX);
  if (typeof checked === 'string') {
    throw new ActionableError(`Give --reason a line of up to ${REASON_LENGTH_MAX} characters.`);
  }
  return { ...initiator, reason: checked.value };
}

/** The bank whose code is given: one with which files are exchanged. */
export function bankOf({ options, settings }: Request): string {
  const codes = [...settings.fileExchanges.keys()];
  const found = codes.find((code) => code === options.bank);
  if (found !== undefined) return found;
  const known = codes.length === 0 ? 'no provider exchanges files' : `one of ${codes.join(', ')}`;
  throw new ActionableError(`Give --bank the code of a provider that exchanges files: ${known}.`);
}

/** How long the bank may be silent of what was delivered. */
export function silenceHoursOf({ fileExchanges, bankProfiles }: Configuration, provider: string): number {
  const exchange = fileExchanges.get(provider);
  const profile = exchange === undefined ? undefined : bankProfiles.get(exchange.profile);
  if (profile !== undefined) return profile.silenceHours;
  throw new ActionableError(
    `The provider ${provider} exchanges no files in this configuration: set CONFIG_FILE to the worker’s.`,
  );
}

/** The file that is named by its id or name. */
export async function fileNamed(reader: Reader, given = ''): Promise<ShownFile> {
  const byId = isUuid(given.toLowerCase()) ? await findShownFile(reader, asId<BankFileId>(given.toLowerCase())) : null;
  if (byId !== null) return byId;
  const [found, ...others] = await findFilesNamed(reader, given);
  if (found === undefined) throw new ActionableError('Give FILE as the id or name of a file that “list” shows.');
  if (others.length === 0) return found;
  const ids = [found, ...others].map(({ id }) => id).join(', ');
  throw new ActionableError(`Several files have this name: give FILE as one of the ids ${ids}.`);
}

/** A bank's texts on a terminal: without control characters. */
export function plainCell(text: string | null): string {
  return text === null || text === '' ? '-' : text.replaceAll(/[^\p{L}\p{N}\p{P}\p{S}\p{Zs}]/gu, '?');
}
