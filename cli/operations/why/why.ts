import { parseArgs } from 'node:util';
import { loadConfiguration } from '../../../config/configuration.ts';
import { type FoundRow, search } from '../../../db/search/search.ts';
import { rejection } from '../../../domain/common/errors.ts';
import { isExact, searchTermsOf } from '../../../domain/search/search-terms.ts';
import { ActionableError } from '../../common/actionable-error.ts';
import { type Operation, type OperationContext, printRejection } from '../operation.ts';
import { explain } from './explain.ts';
import { linesOf, withAdvice } from './explanation.ts';
import { foundInJson, tableOfFound } from './search.ts';

/** `why ID`: what a resource waits for, since when, until when, and what would release it. It reads only. */
export const whyOperation: Operation = {
  async run(context) {
    const { values, positionals } = parseArgs({
      args: [...context.arguments],
      options: { json: { type: 'boolean', default: false } },
      allowPositionals: true,
    });
    const text = positionals.join(' ');
    const terms = searchTermsOf(text).filter(isExact);
    if (terms.length === 0) {
      throw new ActionableError('Give ID as an id, a number, a reference, an IBAN or an e-mail address.');
    }
    const { rows } = await search(context.database.reader, terms);
    const [found, ...others] = rows;
    if (found === undefined) return nothingFound(context, values.json, text);
    if (others.length > 0) return severalFound(context, values.json, [found, ...others]);
    return explainFound(context, values.json, found);
  },
};

const NOTHING = 'Nothing has this id, number, reference, IBAN or e-mail address.';

function nothingFound(context: OperationContext, isJson: boolean, id: string): 1 {
  if (!isJson) throw rejection('common.coding.internal.record_not_found', ['resource', 'id', id], NOTHING);
  return printRejection(context, { message: NOTHING, isJson, subject: { id } });
}

function severalFound({ print }: OperationContext, isJson: boolean, found: readonly FoundRow[]): 1 {
  if (isJson) print(JSON.stringify({ found: found.map(foundInJson) }));
  else {
    print('It may mean one of these. Ask again by the id of one:');
    print(tableOfFound(found));
  }
  return 1;
}

async function explainFound(context: OperationContext, isJson: boolean, row: FoundRow): Promise<0> {
  const { database, temporal, print, answerTimeoutMs } = context;
  const rules = loadConfiguration(process.env);
  const { explanation, workflow } = await explain({ reader: database.reader, temporal, rules, answerTimeoutMs }, row);
  if (isJson) {
    const obstacles = explanation.obstacles.map(withAdvice);
    const workflowText = withAdvice(workflow.text);
    print(JSON.stringify({ ...explanation, obstacles, workflow: workflow.state, workflowText }));
  } else for (const line of linesOf(explanation, workflow)) print(line);
  return 0;
}
