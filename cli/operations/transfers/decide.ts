import { parseArgs } from 'node:util';
import { CHECKED_TYPES, decideComplianceCheck, readComplianceCheck } from '../../../db/compliance/checks.ts';
import { parseWrittenId } from '../../../domain/common/payment-references.ts';
import { PROCEDURE_RESULTS } from '../../../domain/compliance/procedures.ts';
import { ActionableError } from '../../common/actionable-error.ts';
import { type OperationContext, showRejection } from '../operation.ts';
import { readServiceRules } from '../service-rules.ts';

/** `decide KIND ID RESULT`: records a result of a transfer's compliance check, in every mode of review. */
export async function decideCheck({
  database,
  initiator,
  arguments: given,
  print,
  reject,
}: OperationContext): Promise<0 | 1> {
  const { values, positionals } = parseArgs({
    args: [...given],
    options: { json: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const [kind, sentId = '', sentResult, ...more] = positionals;
  const type = CHECKED_TYPES.find((known) => known === kind);
  const result = PROCEDURE_RESULTS.find((known) => known === sentResult);
  const id = parseWrittenId(sentId);
  if (type === undefined) throw new ActionableError(`Give KIND as one of ${CHECKED_TYPES.join(', ')}.`);
  if (id === null) throw new ActionableError('Give ID as the id of the transfer.');
  if (result === undefined || more.length > 0) {
    throw new ActionableError(`Give RESULT as one of ${PROCEDURE_RESULTS.join(', ')}.`);
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
    return showRejection({ print, reject }, { error, isJson: values.json, subject: { type, id } });
  }
}
