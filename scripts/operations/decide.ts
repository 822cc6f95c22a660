import { parseArgs } from 'node:util';
import { CHECKED_TYPES, decideComplianceCheck, readComplianceCheck } from '../../db/compliance/checks.ts';
import { PROCEDURE_RESULTS } from '../../domain/compliance/procedures.ts';
import { idWritten } from '../../domain/frame/payment-references.ts';
import { RemedyError } from '../frame/remedy.ts';
import type { OperationContext } from './operations.ts';
import { showRefusal } from './refusals.ts';
import { readServiceRules } from './service-rules.ts';

/** `decide KIND ID RESULT`: records a result of a transfer's compliance check, in every mode of review. */
export async function decideCheck({ database, initiator, arguments: given, print }: OperationContext): Promise<0 | 1> {
  const { values, positionals } = parseArgs({
    args: [...given],
    options: { json: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const [kind, sentId = '', sentResult, ...more] = positionals;
  const type = CHECKED_TYPES.find((known) => known === kind);
  const result = PROCEDURE_RESULTS.find((known) => known === sentResult);
  const id = idWritten(sentId);
  if (type === undefined) throw new RemedyError(`Give KIND as one of ${CHECKED_TYPES.join(', ')}.`);
  if (id === null) throw new RemedyError('Give ID as the id of the transfer.');
  if (result === undefined || more.length > 0) {
    throw new RemedyError(`Give RESULT as one of ${PROCEDURE_RESULTS.join(', ')}.`);
  }
  const rules = await readServiceRules(database.reader);
  try {
    const { status, complianceCheck } = await database.transaction(async (tx) => {
      await decideComplianceCheck(tx, { type, id }, result, initiator, rules);
      return readComplianceCheck(tx, { type, id });
    });
    const text = `${type} ${id}: the compliance check is ${complianceCheck.status}, the transfer ${status}.`;
    print(values.json ? JSON.stringify({ type, id, status, complianceCheck }) : text);
    return 0;
  } catch (error) {
    return showRefusal({ print }, { error, isJson: values.json, subject: { type, id } });
  }
}
