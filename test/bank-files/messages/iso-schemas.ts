import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { XmlDocument, XmlValidateError, XsdValidator } from 'libxml2-wasm';

const SCHEMAS = join(import.meta.dirname, '../../../sandbox/bank/iso20022');
const validators = new Map<string, XsdValidator>();

/** What contradicts ISO's schema of the file's version; throws for a file that is no XML or of a version without a schema here. */
export function schemaProblems(file: string | Uint8Array): string[] {
  const text = typeof file === 'string' ? file : Buffer.from(file).toString('utf8');
  const [, version = 'no version'] = /xsd:([a-z]{4}\.\d{3}\.001\.\d{2})"/.exec(text) ?? [];
  const document = XmlDocument.fromString(text);
  try {
    validatorOf(version).validate(document);
    return [];
  } catch (error) {
    if (error instanceof XmlValidateError) return error.details.map(({ message }) => message.trim());
    throw error;
  } finally {
    document.dispose();
  }
}

/** Compiled once for a process: it takes longer than validating. */
function validatorOf(version: string): XsdValidator {
  const path = join(SCHEMAS, `${version}.xsd`);
  const known = validators.get(version);
  if (known !== undefined) return known;
  if (!existsSync(path)) throw new Error(`no schema of ${version}`);
  const schema = XmlDocument.fromBuffer(readFileSync(path));
  const validator = XsdValidator.fromDoc(schema);
  validators.set(version, validator);
  return validator;
}
