import { UnreadableMessage } from '../../domain/bank-files/messages.ts';
import type { StatementItem } from '../../domain/reconciliation/bank-statements.ts';
import { DocumentReader } from '../common/iso20022/document-reader.ts';
import { StatementItemBuilder } from '../common/iso20022/entry-item-builder.ts';
import { ACCOUNT_REPORTS } from '../common/iso20022/entry-items.ts';

const STATEMENT = ACCOUNT_REPORTS['camt.053'];

/**
 * Reads a file as a stream, in pages: memory holds one transaction, however many an entry has. Throws `UnreadableMessage`.
 */
export async function* readBankStatement(chunks: AsyncIterable<string>): AsyncGenerator<readonly StatementItem[]> {
  const items = new StatementItemBuilder(STATEMENT.path);
  const reader = new DocumentReader({
    messages: [STATEMENT.message],
    noXml:
      'The file is no camt.053 message. Only camt.053, the XML statement of ISO 20022, can be read: no CSV, MT940 or PDF. Ask the bank for camt.053.',
    begin: () => items,
  });
  for await (const chunk of chunks) {
    for (const _slice of reader.write(chunk)) if (items.hasItems) yield items.take();
  }
  reader.close();
  if (items.statements === 0) throw new UnreadableMessage('The file contains no statement.');
  if (items.hasItems) yield items.take();
}
